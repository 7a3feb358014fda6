/** A turn as Markdown, to copy: the prompt as a quote, then the answers. Pure. */
import type { MessageView, PartView } from '../protocol';
import type { Answer } from '../store/turns';

export function textOfTurn(user: MessageView | undefined, answers: readonly Answer[]): string {
  const prompt = wordsOf(user?.parts ?? []);
  const quoted = prompt.map((text) => text.replace(/^/gm, '> ').replace(/^> $/gm, '>'));
  return [...quoted, ...wordsOf(answers.flatMap(({ parts }) => parts))].join('\n\n');
}

/** What was said, without what the program added. */
export function wordsOf(parts: readonly PartView[]): string[] {
  return parts.flatMap(({ part }) =>
    part.type === 'text' && part.synthetic !== true && part.ignored !== true && part.text.trim() !== '' ? [part.text.trim()] : [],
  );
}
