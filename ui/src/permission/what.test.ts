import { describe, expect, test } from 'vitest';
import { visible, visibleLine } from '../kit/visible';
import type { PermissionRequest } from '../protocol';
import { whatOf } from './what';

const request = (permission: string, patterns: string[], metadata: Record<string, unknown>): PermissionRequest => ({
  id: 'per_a',
  sessionID: 'ses_a',
  permission,
  patterns,
  metadata,
  always: [],
});

describe('what a request would let happen', () => {
  test('is the whole command, with what the agent says of it and why it is asked', () => {
    const metadata = { command: 'a && b > c', description: 'Tidy up', reasons: ['It redirects', 7] };
    expect(whatOf(request('bash', ['a', 'b'], metadata))).toEqual({
      said: 'Tidy up',
      diff: undefined,
      reasons: ['It redirects'],
      facts: [{ label: 'Command', values: ['a && b > c'] }],
    });
  });

  test('is the whole address of a fetch', () => {
    const url = 'https://example.com/a?b=c';
    expect(whatOf(request('webfetch', ['example.com'], { url })).facts).toEqual([{ label: 'Address', values: [url] }]);
  });

  test('is each file of an edit, and the difference', () => {
    const what = whatOf(request('edit', ['a.ts', 'b.ts'], { diff: '@@ -1 +1 @@\n-a\n+b\n' }));
    expect(what.facts).toEqual([{ label: 'File', values: ['a.ts', 'b.ts'] }]);
    expect(what.diff).toContain('+b');
  });

  test('is the path outside of the project, and the command that wants it', () => {
    const metadata = { parentDir: '/etc', filepath: '/etc/hosts', command: 'cat /etc/hosts' };
    expect(whatOf(request('external_directory', ['/etc/*'], metadata)).facts).toEqual([
      { label: 'Path', values: ['/etc/hosts'] },
      { label: 'Outside of the project', values: ['/etc'] },
      { label: 'Command', values: ['cat /etc/hosts'] },
    ]);
  });

  test('is what it is asked for where nothing more is told', () => {
    expect(whatOf(request('dance', ['waltz'], { description: 3 }))).toEqual({
      said: undefined,
      diff: undefined,
      reasons: [],
      facts: [{ label: 'For', values: ['waltz'] }],
    });
  });
});

describe('hidden characters', () => {
  test.each([
    ['an escape sequence', 'a\u001b[31mb', 'a⟨U+001B⟩[31mb'],
    ['an operating system command', '\u001b]0;x\u0007', '⟨U+001B⟩]0;x⟨U+0007⟩'],
    ['a C1 control', '\u009b31m', '⟨U+009B⟩31m'],
    ['a carriage return that overwrites a line', 'rm -r /\rls', 'rm -r /⟨U+000D⟩ls'],
    ['a direction override', 'a\u202egpj.exe', 'a⟨U+202E⟩gpj.exe'],
    ['an isolate', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['a zero-width space', 'r\u200bm', 'r⟨U+200B⟩m'],
    ['a filler that looks like a space', 'a\u3164b\u2800c', 'a⟨U+3164⟩b⟨U+2800⟩c'],
    ['a tag character', 'a\u{e0061}', 'a⟨U+E0061⟩'],
    ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
  ])('%s is drawn as its code', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('do not include line breaks and tabs, but on one line', () => {
    expect(visible('a\n\tb')).toBe('a\n\tb');
    expect(visibleLine('a\n\tb')).toBe('a⟨U+000A⟩⟨U+0009⟩b');
  });
});
