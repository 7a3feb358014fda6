/** The icon, title and details of each tool. Tools without an entry use the generic card. */
import BookOpen from 'lucide-solid/icons/book-open';
import CircleHelp from 'lucide-solid/icons/circle-question-mark';
import FilePen from 'lucide-solid/icons/file-pen';
import FilePlus from 'lucide-solid/icons/file-plus';
import FileStack from 'lucide-solid/icons/file-stack';
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
import { BashDetails } from './BashDetails';
import { ChangeDetails, GenericDetails, OutcomeDetails, type DetailsProps } from './GenericDetails';
import { answered, asked, firstWord, found, list, nothing, patched, path, text, texts, type Say, type SayAll } from './input';
import { QuestionDetails } from './QuestionDetails';
import { TaskDetails } from './TaskDetails';
import { TodoDetails } from './TodoDetails';

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

interface ToolLook {
  readonly icon: Icon;
  /** A title of its own that a call has, such as the agent's description of a command; empty if it has none. */
  readonly heading?: Say;
  /** The most important argument, from an input that may be incomplete. */
  readonly subtitle: Say;
  /** Other arguments for the header. */
  readonly args?: SayAll;
  readonly details: Component<DetailsProps>;
  /** A read-only call: a run of them is shown in one line. */
  readonly looks?: true;
}

interface NamedLook extends ToolLook {
  readonly title: string;
}

const { args } = en.tool;

/** Exhaustive over the tools we offer. */
export const toolLooks: { [N in ToolName]: ToolLook } = {
  read: {
    icon: BookOpen,
    subtitle: path('filePath'),
    args: texts({ offset: args.offset, limit: args.limit }),
    details: OutcomeDetails,
    looks: true,
  },
  list: { icon: FolderTree, subtitle: path('path'), details: OutcomeDetails, looks: true },
  glob: { icon: Files, subtitle: found, details: OutcomeDetails, looks: true },
  grep: {
    icon: Search,
    subtitle: found,
    args: texts({ include: args.include }),
    details: OutcomeDetails,
    looks: true,
  },
  webfetch: {
    icon: Globe,
    subtitle: text('url'),
    args: texts({ format: args.format }),
    details: OutcomeDetails,
  },
  task: {
    icon: Split,
    subtitle: text('description'),
    args: texts({ subagent_type: args.agent }),
    details: TaskDetails,
  },
  bash: {
    icon: SquareTerminal,
    heading: text('description'),
    subtitle: text('command'),
    args: texts({ workdir: args.workdir }),
    details: BashDetails,
  },
  edit: {
    icon: FilePen,
    subtitle: path('filePath'),
    args: texts({ replaceAll: args.replaceAll }),
    details: ChangeDetails,
  },
  write: { icon: FilePlus, subtitle: path('filePath'), details: ChangeDetails },
  apply_patch: { icon: FileStack, subtitle: patched, details: ChangeDetails },
  todowrite: { icon: ListTodo, subtitle: list('todos'), details: TodoDetails },
  todoread: { icon: ListChecks, subtitle: nothing, details: TodoDetails, looks: true },
  question: { icon: CircleHelp, heading: asked, subtitle: answered, details: QuestionDetails },
};

/** For MCP tools and tools of newer versions: the tool's name and its first short argument. */
export function lookOf(tool: string): NamedLook {
  if (isBuiltIn(tool)) return { ...toolLooks[tool], title: en.tool.names[tool] };
  return { icon: Wrench, title: tool, subtitle: firstWord, details: GenericDetails };
}

function isBuiltIn(tool: string): tool is ToolName {
  return Object.hasOwn(toolLooks, tool);
}
