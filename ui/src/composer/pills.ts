/** The mentions and the command in a prompt, which are drawn as pills under the text. Pure. */
import { commandOf } from './tokens';

export interface Piece {
  readonly text: string;
  readonly pill?: 'mention' | 'command' | 'shell';
}

/** As in `tokens.ts`: not after a word character or a backtick. A sentence's punctuation is not part of it. */
const MENTION = /(^|[^\w`@])(@(?:"[^"\n]+"|[^\s`"@]*[^\s`"@.,;:!?)\]}]))/gu;

/** The text in pieces, in order; together they are the text. */
export function piecesOf(text: string, commands: readonly string[]): Piece[] {
  const head = headOf(text, commands);
  const rest = text.slice(head?.text.length ?? 0);
  const pieces: Piece[] = head ? [head] : [];
  if (head?.pill === 'shell') return rest === '' ? pieces : [...pieces, { text: rest }];
  let at = 0;
  for (const found of rest.matchAll(MENTION)) {
    const start = found.index + (found[1] ?? '').length;
    if (start > at) pieces.push({ text: rest.slice(at, start) });
    pieces.push({ text: found[2] ?? '', pill: 'mention' });
    at = start + (found[2] ?? '').length;
  }
  if (at < rest.length) pieces.push({ text: rest.slice(at) });
  return pieces;
}

function headOf(text: string, commands: readonly string[]): Piece | undefined {
  if (isShell(text)) return { text: '!', pill: 'shell' };
  const command = text.startsWith('/') ? commandOf(text, commands) : undefined;
  return command && { text: `/${command.name}`, pill: 'command' };
}

/** A text that begins with `!` is a command of the person's own; after a space or a line break it is not. */
export function isShell(text: string): boolean {
  return text.startsWith('!');
}

/**
 * The prompt that a text is sent as. One that is no command of the person's own keeps a space before
 * its `!`, so that it never becomes one, wherever it is put back into the field.
 */
export function promptOf(text: string): string {
  const prompt = text.trim();
  return isShell(prompt) && !isShell(text) ? ` ${prompt}` : prompt;
}
