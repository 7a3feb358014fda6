/**
 * Text from a model or a file, with every character that would hide or lie drawn as its code:
 * terminal controls, direction overrides, zero-width characters. Line breaks and tabs stay.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => `⟨U+${hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
