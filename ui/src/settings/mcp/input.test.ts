import { describe, expect, test } from 'vitest';
import { en } from '../../i18n/en';
import type { McpServerInput } from '../../protocol';
import { joinCommand, splitCommand } from './command';
import { NOTHING_TYPED, readForm, typedOf, type Typed } from './input';

const { wrong } = en.mcp.form;

describe('a command line', () => {
  test.each<[string, string[] | undefined]>([
    ['', []],
    ['  \t ', []],
    ['npx', ['npx']],
    ['  npx  -y   server ', ['npx', '-y', 'server']],
    ['run "a b" c', ['run', 'a b', 'c']],
    ["run 'a b' c", ['run', 'a b', 'c']],
    ['run --dir="a b"/c', ['run', '--dir=a b/c']],
    ['run ""', ['run', '']],
    [`run "it's" 'say "hi"'`, ['run', "it's", 'say "hi"']],
    ['"C:\\Program Files\\x.exe" C:\\y', ['C:\\Program Files\\x.exe', 'C:\\y']],
    ['run "a', undefined],
    ["run a'", undefined],
  ])('%j is %j', (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  test.each([
    [['npx', '-y', 'server'], 'npx -y server'],
    [['run', 'a b', ''], 'run "a b" ""'],
    [['run', `it's`], `run "it's"`],
    [['run', `it's "so"`], `run "it's "'"'"so"'"'`],
  ])('%j is written so that it reads back the same', (words, line) => {
    expect(joinCommand(words)).toBe(line);
    expect(splitCommand(line)).toEqual(words);
  });
});

describe('the form', () => {
  const typed = (change: Partial<Typed>): Typed => ({ ...NOTHING_TYPED, name: 'notes', command: 'npx', ...change });
  const remote = (change: Partial<Typed>) => typed({ kind: 'remote', url: 'https://a.example/mcp', ...change });
  const read = (form: Typed) => readForm(form, ['files'], true);

  test('of a program gives its words and its variables', () => {
    const form = typed({ command: 'npx -y "my server"', environment: '\nA=1\n B_2 = x=y \nEMPTY=\n' });
    expect(read(form)).toEqual({
      input: { kind: 'local', command: ['npx', '-y', 'my server'], environment: { A: '1', B_2: 'x=y', EMPTY: '' } },
    });
  });

  test('of an address gives it and its headers, and nothing of what the other kind was typed', () => {
    expect(read(remote({ headers: 'X-Api.Key=k' }))).toEqual({
      input: { kind: 'remote', url: 'https://a.example/mcp', headers: { 'X-Api.Key': 'k' } },
    });
  });

  test.each<[string, Typed, object]>([
    ['no name', typed({ name: ' ' }), { name: wrong.noName }],
    ['a name with a space', typed({ name: 'my notes' }), { name: wrong.badName }],
    ['a name with a slash', typed({ name: '../x' }), { name: wrong.badName }],
    ['a name with other letters', typed({ name: 'größe' }), { name: wrong.badName }],
    ['a name that is taken', typed({ name: 'files' }), { name: wrong.takenName }],
    ['no command', typed({ command: ' ' }), { command: wrong.noCommand }],
    ['an empty word as command', typed({ command: '"" x' }), { command: wrong.noCommand }],
    ['an open quote', typed({ command: 'npx "a' }), { command: wrong.openQuote }],
    ['a variable without a value', typed({ environment: 'A=1\n\nB' }), { environment: wrong.noEquals(3) }],
    ['a variable without a name', typed({ environment: '=1' }), { environment: wrong.badVariable(1) }],
    ['a variable with a bad name', typed({ environment: '2A=1' }), { environment: wrong.badVariable(1) }],
    ['a variable twice', typed({ environment: 'A=1\nA=2' }), { environment: wrong.twice(2) }],
    ['no address', remote({ url: '' }), { url: wrong.noURL }],
    ['an address of another kind', remote({ url: 'file:///etc/passwd' }), { url: wrong.badURL }],
    ['an address without a scheme', remote({ url: 'a.example/mcp' }), { url: wrong.badURL }],
    ['an address without a host', remote({ url: 'https://' }), { url: wrong.badURL }],
    ['a header with a bad name', remote({ headers: 'A B=1' }), { headers: wrong.badHeader(1) }],
    ['all of it', typed({ name: '', command: '', environment: 'x' }), { name: wrong.noName, command: wrong.noCommand, environment: wrong.noEquals(1) }],
  ])('says what is wrong with %s', (_what, form, said) => {
    expect(read(form)).toEqual({ wrong: said });
  });

  test.each<McpServerInput>([
    { kind: 'local', command: ['npx', 'a b'], environment: { A: '', B: 'x' } },
    { kind: 'local', command: ['npx'], environment: {}, sandbox: true },
    { kind: 'remote', url: 'https://a.example/?q=1', headers: { Authorization: '' } },
  ])('of a stored $kind server is read as what is stored, whatever its name', (input) => {
    expect(readForm(typedOf('old name!', input), ['old name!'], false)).toEqual({ input });
  });
});
