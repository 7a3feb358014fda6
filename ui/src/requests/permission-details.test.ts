import { describe, expect, test } from 'vitest';
import type { PermissionRequest } from '../protocol';
import { describePermission } from './permission-details';

const request = (
  permission: string,
  patterns: string[],
  metadata: Record<string, unknown>,
  more: Partial<PermissionRequest> = {},
): PermissionRequest => ({ id: 'per_a', sessionID: 'ses_a', permission, patterns, metadata, always: [], ...more });

const need = (permission: string, patterns: string[], reasons: string[] = [], always: string[] = []) => ({
  permission,
  patterns,
  reasons,
  always,
});

describe('what a request would let happen', () => {
  test('is the whole command, with what the agent says of it and why it is asked', () => {
    const metadata = { command: 'a && b > c', description: 'Tidy up' };
    const needs = [need('bash', ['a', 'b'], ['The command redirects to or from a file.'])];
    expect(describePermission(request('bash', ['a', 'b'], metadata, { needs }))).toEqual({
      title: 'Run this command?',
      said: 'Tidy up',
      facts: [{ label: 'Command', values: ['a && b > c'], lines: true }],
      files: [],
      needs: [{ label: 'Run', values: ['a', 'b'], reasons: ['The command redirects to or from a file.'] }],
      dangers: [],
      rules: [],
    });
  });

  test('is one list of all that a command needs, its paths outside the project together', () => {
    const needs = [
      need('external_directory', ['/etc/*'], ['outside'], ['/etc/*']),
      need('external_directory', ['/opt/*'], ['outside'], ['/opt/*']),
      need('bash', ['cp a b'], [], ['cp *']),
    ];
    const what = describePermission(
      request('external_directory', ['/etc/*'], { command: 'cp /etc/a /opt/b' }, { needs, always: ['/etc/*'] }),
    );
    expect(what.title).toBe('Run cp?');
    expect(what.needs).toEqual([
      { label: 'Outside the project', values: ['/etc/*', '/opt/*'], reasons: ['outside'] },
      { label: 'Run', values: ['cp a b'], reasons: [] },
    ]);
    expect(what.rules).toEqual([
      { permission: 'external_directory', pattern: '/etc/*' },
      { permission: 'external_directory', pattern: '/opt/*' },
      { permission: 'bash', pattern: 'cp *' },
    ]);
  });

  test('is not said twice: a command that needs no more than to run has no list', () => {
    const needs = [need('bash', ['cargo test'], ['No rule allows `cargo test` (bash).'], ['cargo test *'])];
    const what = describePermission(request('bash', ['cargo test'], { command: 'cargo test' }, { needs, always: ['x'] }));
    expect(what.needs).toEqual([]);
  });

  test('names the dangers of a command', () => {
    const dangers = [{ text: 'rm -rf /', why: 'deletes folders' }];
    expect(describePermission(request('bash', ['rm -rf /'], { command: 'rm -rf /' }, { dangers })).dangers).toEqual(dangers);
  });

  test.each([
    ['network', 'Run again with network access?'],
    ['no_sandbox', 'Run again without the sandbox?'],
    ['sandbox_write', 'Run again with access outside the project?'],
    ['read', 'Run again with access to this file?'],
  ])('of a command that the sandbox stopped is what it wanted: %s', (permission, title) => {
    const metadata = { command: 'npm install', refused: 'It tried to reach registry.npmjs.org' };
    const what = describePermission(request(permission, ['*'], metadata));
    expect([what.title, what.stopped]).toEqual([title, 'It tried to reach registry.npmjs.org']);
    expect(what.facts).toEqual([{ label: 'Command', values: ['npm install'], lines: true }]);
  });

  test('of a command that the sandbox stopped is all that it wanted, hosts by name', () => {
    const metadata = { command: 'sh work.sh', refused: 'Two things.', hosts: ['example.org'] };
    const needs = [need('network', ['*']), need('read', ['.env'])];
    const what = describePermission(request('network', ['*'], metadata, { needs }));
    expect(what.title).toBe('Run again with more access?');
    expect(what.needs).toEqual([
      { label: 'Network access', values: ['example.org'], reasons: [] },
      { label: 'Read', values: ['.env'], reasons: [] },
    ]);
  });

  test.each([
    ['git push origin main', 'Run git push?'],
    ['git -C web push', 'Run git?'],
    ['rm -rf build', 'Run rm?'],
    ['./setup.sh --all', 'Run this command?'],
    ['npm test && rm -rf /', 'Run this command?'],
    ['echo $(rm x)', 'Run this command?'],
    ['echo a\nrm x', 'Run this command?'],
    ['FOO=1 rm x', 'Run this command?'],
  ])('names the program of one plain command: %s', (command, title) => {
    expect(describePermission(request('bash', [command], { command })).title).toBe(title);
  });

  test('of a command that made protected files is whether they stay', () => {
    const metadata = { command: 'sh make.sh', setAside: ['sub/.envrc'] };
    const reason = '`sub/.envrc` is protected: a shell or a login runs it.';
    const what = describePermission(
      request('edit', ['sub/.envrc'], metadata, { needs: [need('edit', ['sub/.envrc'], [reason])] }),
    );
    expect(what).toEqual({
      title: 'Keep protected files?',
      said: undefined,
      facts: [{ label: 'Command', values: ['sh make.sh'], lines: true }],
      files: [],
      needs: [{ label: 'Created', values: ['sub/.envrc'], reasons: [reason] }],
      dangers: [],
      aside: true,
      rules: [],
    });
  });

  test('is the whole address of a fetch', () => {
    const url = 'https://example.com/a?b=c';
    const what = describePermission(request('webfetch', ['example.com'], { url }, { needs: [need('webfetch', ['example.com'])] }));
    expect([what.title, what.facts, what.needs]).toEqual([
      'Fetch from example.com?',
      [{ label: 'Address', values: [url] }],
      [],
    ]);
  });

  test('is a file and its changed lines', () => {
    const metadata = { diff: '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-a\n+b\n', filediff: { file: 'a.ts' } };
    const what = describePermission(request('edit', ['a.ts'], metadata));
    expect(what.title).toBe('Edit this file?');
    expect(what.facts).toEqual([{ label: 'File', values: ['a.ts'] }]);
    expect(what.files).toMatchObject([{ path: 'a.ts', status: 'modified', additions: 1, deletions: 1 }]);
  });

  test('is a new file', () => {
    const diff = '--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1 @@\n+b\n';
    const what = describePermission(request('edit', ['a.ts'], { diff }));
    expect([what.title, what.files[0]?.status]).toEqual(['Create file?', 'added']);
  });

  test('is every file of a patch under its own name, also a moved one', () => {
    const diff = '--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-a\n+b\n--- a/c.ts\n+++ b/c.ts\n@@ -1 +1 @@\n-a\n+b\n';
    const files = [{ file: 'b.ts', from: 'old.ts' }, { file: 'c.ts' }];
    const what = describePermission(request('edit', ['b.ts', 'c.ts'], { diff, files }));
    expect([what.title, what.facts]).toEqual(['Edit 2 files?', []]);
    expect(what.files.map(({ path, oldPath, status }) => [path, oldPath, status])).toEqual([
      ['b.ts', 'old.ts', 'renamed'],
      ['c.ts', undefined, 'modified'],
    ]);
  });

  test('is the path outside of the project', () => {
    const metadata = { filepath: '/etc/hosts' };
    expect(describePermission(request('external_directory', ['/etc/*'], metadata)).facts).toEqual([
      { label: 'Path', values: ['/etc/hosts'] },
      { label: 'Outside the project', values: ['/etc/*'] },
    ]);
  });

  test('is each pattern outside of the project if no folder is given', () => {
    expect(describePermission(request('external_directory', ['/etc/*', '/a\nb/*'], {})).facts).toEqual([
      { label: 'Outside the project', values: ['/etc/*', '/a\nb/*'] },
    ]);
  });

  test('is the tool of a server, whose it is, and what it is given', () => {
    const metadata = { server: 'tickets', tool: 'close', input: { id: 7 } };
    expect(describePermission(request('tickets_close', ['*'], metadata)).facts).toEqual([
      { label: 'MCP server', values: ['tickets'] },
      { label: 'Tool', values: ['close'] },
      { label: 'Input', values: ['{\n  "id": 7\n}'], lines: true },
    ]);
  });

  test('is the patterns if nothing more is given, with reasons of the old form', () => {
    const metadata = { description: 3, reasons: ['It dances', 7] };
    expect(describePermission(request('dance', ['waltz'], metadata))).toEqual({
      title: 'Allow dance?',
      said: undefined,
      facts: [{ label: 'For', values: ['waltz'] }],
      files: [],
      needs: [{ label: '', values: [], reasons: ['It dances'] }],
      dangers: [],
      rules: [],
    });
  });
});
