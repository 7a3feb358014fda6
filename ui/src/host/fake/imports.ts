/** Sessions of another program, as if they were on this machine. */
import type { ImportReport, ImportSource } from '../../protocol';
import type { Host } from '../host';

const SOURCES: readonly ImportSource[] = [
  { path: '/home/ada/.local/share/opencode/opencode.db', kind: 'sqlite', sessions: 48 },
  { path: '/home/ada/.local/share/opencode', kind: 'json', sessions: 31 },
  { path: '/home/ada/.codex', kind: 'codex', sessions: 12 },
  { path: '/home/ada/.claude', kind: 'claude', sessions: 120 },
];

export function createFakeImports(): Pick<Host, 'findImports' | 'importFrom' | 'stopImport'> {
  const taken = new Set<string>();
  return {
    findImports: async () => [...SOURCES],
    stopImport: async () => undefined,
    importFrom: async (path, onProgress): Promise<ImportReport> => {
      const source = SOURCES.find((one) => one.path === path);
      if (!source) throw { code: 'failed', message: `there is nothing to import at ${path}` };
      onProgress({ files: source.sessions, done: source.sessions, sessions: source.sessions, messages: 0 });
      const nothing = { grown: 0, left_out: [], stopped: false };
      if (taken.has(path)) return { ...nothing, added: 0, already: source.sessions, unreadable: [] };
      taken.add(path);
      return {
        ...nothing,
        left_out: [{ what: 'progress', why: 'it is not part of the session', count: 3 }],
        added: source.sessions,
        already: 0,
        unreadable: [{ what: 'part prt_19 of msg_07', why: 'EOF while parsing a string at line 6 column 24' }],
      };
    },
  };
}
