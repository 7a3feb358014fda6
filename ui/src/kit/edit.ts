/** The commands of the Edit menu, for the field or the selection that has the focus. */
import { hasCommandKey, isMac } from './keys';

export type EditCommand = 'undo' | 'redo' | 'cut' | 'copy' | 'paste' | 'selectAll';

export type Field = HTMLInputElement | HTMLTextAreaElement;

/** Kinds of inputs that hold text. */
const TEXT = new Set(['text', 'search', 'url', 'tel', 'email', 'password', 'number', '']);

/** The field with text that this is, or that this is in. */
export function fieldOf(element: Element | null): Field | undefined {
  const field = element?.closest<Field>('input, textarea');
  if (!field) return undefined;
  return field instanceof HTMLTextAreaElement || TEXT.has(field.type) ? field : undefined;
}

export function edit(command: EditCommand): void {
  if ((command === 'undo' || command === 'redo') && !fieldOf(document.activeElement)) return pressUndo(command);
  document.execCommand?.(command);
}

/** What is not a field, such as the review, has an undo of its own, by the same keys. */
function pressUndo(command: 'undo' | 'redo'): void {
  const keys = { key: 'z', shiftKey: command === 'redo', ctrlKey: !isMac, metaKey: isMac, bubbles: true, cancelable: true };
  const event = new KeyboardEvent('keydown', keys);
  if (hasCommandKey(event)) (document.activeElement ?? document.body).dispatchEvent(event);
}
