/**
 * Text from a model or a file, with every character that would hide or lie drawn as its code:
 * terminal controls, direction overrides, zero-width and filler characters, tags. The same set as
 * Rust's `escape.rs`, but for joiners inside words, which are shown here: a prompt errs that way.
 */
const HIDDEN = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
    '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb' +
    '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]',
  'gu',
);

/** Line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, named);
}

/** For what must stay on one line, such as a file's name: line breaks and tabs are drawn, too. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\n\t]/g, named);
}

function named(hidden: string): string {
  return `⟨U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
