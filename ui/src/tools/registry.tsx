/** How each tool call introduces itself. The generic card draws what has no card of its own. */
import BookOpen from 'lucide-solid/icons/book-open';
import CircleHelp from 'lucide-solid/icons/circle-question-mark';
import FilePen from 'lucide-solid/icons/file-pen';
import FilePlus from 'lucide-solid/icons/file-plus';
import Files from 'lucide-solid/icons/files';
import FolderTree from 'lucide-solid/icons/folder-tree';
import Globe from 'lucide-solid/icons/globe';
import ListChecks from 'lucide-solid/icons/list-checks';
import ListTodo from 'lucide-solid/icons/list-todo';
import Search from 'lucide-solid/icons/search';
import Split from 'lucide-solid/icons/split';
import SquareTerminal from 'lucide-solid/icons/square-terminal';
import Wrench from 'lucide-solid/icons/wrench';
import type { Component } from 'solid-js';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { relativePath } from '../kit/format';
import type { ToolPart } from '../protocol';
import { BashDetails } from './BashDetails';
import { GenericDetails } from './GenericDetails';

export type ToolName =
  | 'read'
  | 'list'
  | 'glob'
  | 'grep'
  | 'webfetch'
  | 'task'
  | 'bash'
  | 'edit'
  | 'write'
  | 'apply_patch'
  | 'todowrite'
  | 'todoread'
  | 'question';

export type ToolInput = Readonly<Record<string, unknown>>;

export interface ToolLook {
  readonly icon: Icon;
  readonly title: string;
  /** The one argument that says most, from an input that may still be incomplete. */
  readonly subtitle: (input: ToolInput, root: string | undefined) => string;
  readonly details: Component<{ part: ToolPart }>;
}

const word = (input: ToolInput, key: string): string => {
  const value = input[key];
  return typeof value === 'string' ? value : '';
};
const path = (key: string) => (input: ToolInput, root: string | undefined) => relativePath(word(input, key), root);
const text = (key: string) => (input: ToolInput) => word(input, key);
const found = (input: ToolInput, root: string | undefined) =>
  [word(input, 'pattern'), relativePath(word(input, 'path'), root)].filter((part) => part !== '').join('  ');
const size = (key: string) => (input: ToolInput) => {
  const list = input[key];
  return Array.isArray(list) ? en.tool.items(list.length) : '';
};
const patched = (input: ToolInput) =>
  [...word(input, 'patchText').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
    .map((match) => match[1])
    .join(', ');
const nothing = () => '';

const names = en.tool.names;

/** Exhaustive over the tools we offer. */
export const toolLooks: { [N in ToolName]: ToolLook } = {
  read: { icon: BookOpen, title: names.read, subtitle: path('filePath'), details: GenericDetails },
  list: { icon: FolderTree, title: names.list, subtitle: path('path'), details: GenericDetails },
  glob: { icon: Files, title: names.glob, subtitle: found, details: GenericDetails },
  grep: { icon: Search, title: names.grep, subtitle: found, details: GenericDetails },
  webfetch: { icon: Globe, title: names.webfetch, subtitle: text('url'), details: GenericDetails },
  task: { icon: Split, title: names.task, subtitle: text('description'), details: GenericDetails },
  bash: { icon: SquareTerminal, title: names.bash, subtitle: text('command'), details: BashDetails },
  edit: { icon: FilePen, title: names.edit, subtitle: path('filePath'), details: GenericDetails },
  write: { icon: FilePlus, title: names.write, subtitle: path('filePath'), details: GenericDetails },
  apply_patch: { icon: FilePen, title: names.apply_patch, subtitle: patched, details: GenericDetails },
  todowrite: { icon: ListTodo, title: names.todowrite, subtitle: size('todos'), details: GenericDetails },
  todoread: { icon: ListChecks, title: names.todoread, subtitle: nothing, details: GenericDetails },
  question: { icon: CircleHelp, title: names.question, subtitle: size('questions'), details: GenericDetails },
};

/** For MCP tools and whatever a newer version offers: its own name, and its first short argument. */
export function lookOf(tool: string): ToolLook {
  if (Object.hasOwn(toolLooks, tool)) return toolLooks[tool as ToolName];
  return { icon: Wrench, title: tool, subtitle: firstWord, details: GenericDetails };
}

function firstWord(input: ToolInput): string {
  const first = Object.values(input).find((value) => typeof value === 'string' && value !== '');
  return typeof first === 'string' ? first : '';
}
