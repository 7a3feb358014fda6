import { describe, expect, test } from 'vitest';
import protocol from '../../../src-tauri/crates/protocol/src/text.rs?raw';
import render from '../../../src-tauri/crates/render/src/escape.rs?raw';
import { visible, visibleLine } from './visible';

describe('hidden characters', () => {
  test.each([
    ['an escape sequence', 'a\u001b[31mb', 'a⟨U+001B⟩[31mb'],
    ['an operating system command', '\u001b]0;x\u0007', '⟨U+001B⟩]0;x⟨U+0007⟩'],
    ['a C1 control', '\u009b31m', '⟨U+009B⟩31m'],
    ['a next line', 'a\u0085b', 'a⟨U+0085⟩b'],
    ['a null and a delete', '\u0000\u007f', '⟨U+0000⟩⟨U+007F⟩'],
    ['a carriage return that overwrites a line', 'rm -r /\rls', 'rm -r /⟨U+000D⟩ls'],
    ['a direction override', 'a\u202egpj.exe', 'a⟨U+202E⟩gpj.exe'],
    ['an isolate', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['a direction mark', 'a\u200fb\u061c', 'a⟨U+200F⟩b⟨U+061C⟩'],
    ['a zero-width space', 'r\u200bm', 'r⟨U+200B⟩m'],
    ['a joiner, even in a word', 'r\u200dm', 'r⟨U+200D⟩m'],
    ['a soft hyphen', 'a\u00adb', 'a⟨U+00AD⟩b'],
    ['a byte order mark', '\ufeffa', '⟨U+FEFF⟩a'],
    ['a filler that looks like a space', 'a\u3164b\u2800c\uffa0', 'a⟨U+3164⟩b⟨U+2800⟩c⟨U+FFA0⟩'],
    ['a tag character', 'a\u{e0061}', 'a⟨U+E0061⟩'],
    ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
    ['a variation selector of a letter', 'rm\ufe0f', 'rm⟨U+FE0F⟩'],
    ['a second variation selector', '❤\ufe0f\ufe0f', '❤\ufe0f⟨U+FE0F⟩'],
    ['a variation selector of nothing', '\ufe00', '⟨U+FE00⟩'],
    ['a variation selector of the supplement', '字\u{e0100}', '字⟨U+E0100⟩'],
  ])('%s is drawn as its code', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('do not include line breaks and tabs, but on one line', () => {
    expect(visible('a\n\tb')).toBe('a\n\tb');
    expect(visibleLine('a\n\tb')).toBe('a⟨U+000A⟩⟨U+0009⟩b');
  });

  test.each(['naïve — “quotes”', '中文，日本語', 'مرحبا', '❤\ufe0f', '1\ufe0f\u20e3', '👍🏽', '字\ufe00'])(
    'are none in %s',
    (text) => {
      expect(visible(text)).toBe(text);
    },
  );

  test('are drawn once: what was drawn stays as it is', () => {
    const once = visibleLine('a\u202e\n\u{e0061}b');
    expect(visibleLine(once)).toBe(once);
  });
});

/** The characters that a `matches!` of a Rust function lists, from its source. */
function namedIn(source: string, name: string): number[] {
  const body = source.slice(source.indexOf(`fn ${name}(`)).split('\n}')[0] ?? '';
  const spans = body.matchAll(/'\\u\{([0-9a-f]+)\}'(?:\.\.='\\u\{([0-9a-f]+)\}')?/g);
  return [...spans].flatMap(([, first = '', last = first]) => {
    const from = Number.parseInt(first, 16);
    return Array.from({ length: Number.parseInt(last, 16) - from + 1 }, (_, index) => from + index);
  });
}

describe('what Rust escapes', () => {
  const controls = [...Array(0xa0).keys()].filter((code) => (code < 0x20 || code >= 0x7f) && code !== 9 && code !== 10);
  const selectors = Array.from({ length: 16 }, (_, index) => 0xfe00 + index);

  test.each([
    ['render', namedIn(render, 'is_format')],
    ['protocol', namedIn(protocol, 'is_deceptive')],
    ['both: control characters', controls],
    ['render: variation selectors', selectors],
  ])('is escaped here: %s', (_where, codes) => {
    expect(codes.length).toBeGreaterThan(10);
    // Before a variation selector, too, which must not make it look like an emoji.
    const missed = codes.filter((code) => {
      const hidden = String.fromCodePoint(code);
      return [`a${hidden}`, `a${hidden}\ufe0f`].some((text) => visible(text).includes(hidden));
    });
    expect(missed.map((code) => code.toString(16))).toEqual([]);
  });
});
