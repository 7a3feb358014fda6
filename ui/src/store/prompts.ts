/**
 * Converts a sent prompt back to a draft. Pure.
 *
 * Mentions (`@file`, `@agent`) stay in the text, where the core finds them again. Symbols need their
 * position, which is not in the text, so they are kept in the draft, as are attachments.
 */
import { en } from '../i18n/en';
import { filePathOf } from '../text/file-url';
import { baseName, relativePath } from '../text/format';
import type { DraftAttachment, DraftSymbol, FilePart, FilePartSource, MessageView, PartView, PromptFile } from '../protocol';
import { kindOf, promptFile, resourceAttachment } from './attachments';
import type { Draft } from './drafts';
import { mentionOf, symbolFiles } from './mentions';

/** `root` is the folder of the session's project. */
export function draftOf(message: MessageView, root: string): Draft {
  const text = textOf(message);
  const files = message.parts.flatMap(({ part }) => (part.type === 'file' ? [part] : []));
  const draft: Draft = { text, attachments: [], symbols: [] };
  return files.reduce((so, file) => {
    if (isNamed(file, text)) return so;
    const symbol = symbolOf(file, text, root);
    if (symbol) return { ...so, symbols: [...so.symbols, symbol] };
    const fresh = attachmentOf(file);
    // A resource may be stored as several files.
    return so.attachments.some((one) => one.id === fresh.id) ? so : { ...so, attachments: [...so.attachments, fresh] };
  }, draft);
}

/** Whether a file exists only as a part of its message, as what was pasted or dropped. */
export function isStoredFile({ part }: PartView): boolean {
  return part.type === 'file' && !part.url.startsWith('file:') && part.source?.type !== 'resource';
}

/** One draft below the other. */
export function joinDrafts(first: Draft, second: Draft): Draft {
  const known = new Set(first.attachments.map(({ id }) => id));
  return {
    text: [first.text, second.text].filter((text) => text !== '').join('\n\n'),
    attachments: [...first.attachments, ...second.attachments.filter(({ id }) => !known.has(id))],
    symbols: [...first.symbols, ...second.symbols],
  };
}

/** The files that are sent with a draft. */
export function filesOf({ attachments, symbols }: Omit<Draft, 'text'>, text: string, root: string): PromptFile[] {
  const attached = attachments.map((one) => ({
    ...promptFile(one),
    ...(one.source && { source: placed(one.source, text) }),
  }));
  return [...attached, ...symbolFiles(text, symbols, root)];
}

/** Whether the person wrote or attached something. Prompts of the program itself have neither. */
export function isWritten({ parts }: MessageView): boolean {
  return parts.some(({ part }) => part.type === 'file' || (part.type === 'text' && isTyped(part) && part.text !== ''));
}

function textOf({ parts }: MessageView): string {
  return parts.flatMap(({ part }) => (part.type === 'text' && isTyped(part) ? [part.text] : [])).join('\n\n');
}

function isTyped({ synthetic, ignored }: { synthetic?: boolean; ignored?: boolean }): boolean {
  return synthetic !== true && ignored !== true;
}

/** The core finds the file by its mention in the text, with the same lines. */
function isNamed({ source, url }: FilePart, text: string): boolean {
  if (source?.type !== 'file' || !source.text.value.startsWith('@')) return false;
  const whole = !/^file:.*[?&]start=/.test(url) || /#L\d/.test(source.text.value);
  return whole && text.includes(source.text.value);
}

/** Only a symbol of this project that the text still mentions. */
function symbolOf({ source }: FilePart, text: string, root: string): DraftSymbol | undefined {
  if (source?.type !== 'symbol' || !text.includes(source.text.value)) return undefined;
  const path = relativePath(source.path, root).replaceAll('\\', '/');
  const symbol: DraftSymbol = {
    name: source.name,
    lspKind: source.kind,
    path,
    line: source.range.start.line + 1,
    endLine: source.range.end.line + 1,
  };
  return path !== source.path && mentionOf(symbol.name) === source.text.value ? symbol : undefined;
}

function attachmentOf({ id, url, mime, filename, source }: FilePart): DraftAttachment {
  const path = filePathOf(url);
  const name = filename ?? (path === undefined ? en.part.attachment : baseName(path));
  if (source?.type === 'resource') return resourceAttachment({ server: source.clientName, uri: source.uri, name, mime });
  const known = { ...(path === undefined ? {} : { path }), ...(source && { source }) };
  return { id, url, name, kind: kindOf(mime), mime, size: 0, ...known };
}

/** Updates the position of the mention; empty if it is no longer in the text. */
function placed(source: FilePartSource, text: string): FilePartSource {
  const { value } = source.text;
  const start = value === '' ? -1 : text.indexOf(value);
  return { ...source, text: start === -1 ? { value: '', start: 0, end: 0 } : { value, start, end: start + value.length } };
}
