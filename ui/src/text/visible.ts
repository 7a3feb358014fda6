/**
 * Shows deceptive characters of untrusted text as their codes: terminal controls, direction overrides,
 * zero-width and filler characters, tags. Covers all that Rust's `escape.rs` covers, and also joiners
 * inside words, to be on the safe side.
 */
const HIDDEN =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb' +
  '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';
/** What one variation selector may follow: emoji, digits of keycaps, ideographs. */
const VARIES = '#*0-9\\u00a9\\u00ae\\u2010-\\u2049\\u2100-\\u2bff\\u3000-\\u9fff\\u{1f000}-\\u{1faff}';

// A selector after such a character is matched together with it and kept.
const PIECE = new RegExp(`((?![${HIDDEN}])[${VARIES}])[\\ufe00-\\ufe0f]|[${HIDDEN}\\ufe00-\\ufe0f]`, 'gu');

/** Keeps line breaks and tabs. */
export function visible(text: string): string {
  return text.replace(PIECE, (found, varied?: string) => (varied === undefined ? named(found) : found));
}

/** For single-line text such as a file name: shows line breaks and tabs as codes, too. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\n\t]/g, named);
}

function named(hidden: string): string {
  return `⟨U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
