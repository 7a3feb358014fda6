import { describe, expect, test } from 'vitest';
import type { PermissionRequest } from '../protocol';
import { describePermission } from './permission-details';

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
    expect(describePermission(request('bash', ['a', 'b'], metadata))).toEqual({
      said: 'Tidy up',
      diff: undefined,
      reasons: ['It redirects'],
      facts: [{ label: 'Command', values: ['a && b > c'], lines: true }],
    });
  });

  test('is the whole address of a fetch', () => {
    const url = 'https://example.com/a?b=c';
    expect(describePermission(request('webfetch', ['example.com'], { url })).facts).toEqual([{ label: 'Address', values: [url] }]);
  });

  test('is each file of an edit, and the difference', () => {
    const what = describePermission(request('edit', ['a.ts', 'b.ts'], { diff: '@@ -1 +1 @@\n-a\n+b\n' }));
    expect(what.facts).toEqual([{ label: 'File', values: ['a.ts', 'b.ts'] }]);
    expect(what.diff).toContain('+b');
  });

  test('is the path outside of the project, and the command that wants it', () => {
    const metadata = { parentDir: '/etc', filepath: '/etc/hosts', command: 'cat /etc/hosts' };
    expect(describePermission(request('external_directory', ['/etc/*'], metadata)).facts).toEqual([
      { label: 'Path', values: ['/etc/hosts'] },
      { label: 'Outside of the project', values: ['/etc'] },
      { label: 'Command', values: ['cat /etc/hosts'], lines: true },
    ]);
  });

  test('is each pattern outside of the project if no folder is given', () => {
    expect(describePermission(request('external_directory', ['/etc/*', '/a\nb/*'], {})).facts).toEqual([
      { label: 'Outside of the project', values: ['/etc/*', '/a\nb/*'] },
    ]);
  });

  test('is the tool of a server, whose it is, and what it is given', () => {
    const metadata = { server: 'tickets', tool: 'close', input: { id: 7 } };
    expect(describePermission(request('tickets_close', ['*'], metadata)).facts).toEqual([
      { label: 'Tool server', values: ['tickets'] },
      { label: 'Tool', values: ['close'] },
      { label: 'Input', values: ['{\n  "id": 7\n}'], lines: true },
    ]);
  });

  test('is the patterns if nothing more is given', () => {
    expect(describePermission(request('dance', ['waltz'], { description: 3 }))).toEqual({
      said: undefined,
      diff: undefined,
      reasons: [],
      facts: [{ label: 'For', values: ['waltz'] }],
    });
  });
});
