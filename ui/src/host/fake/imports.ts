/** Sessions of another program, as if they were on this machine. */
import type { ImportReport, ImportSource } from '../../protocol';
import type { Host } from '../host';

const SOURCES: readonly ImportSource[] = [
  { path: '/home/ada/.local/share/opencode/opencode.db', kind: 'sqlite', sessions: 48 },
  { path: '/home/ada/.local/share/opencode', kind: 'json', sessions: 31 },
];

export function createFakeImports(): Pick<Host, 'findImports' | 'importFrom'> {
  const taken = new Set<string>();
  return {
    findImports: async () => [...SOURCES],
    importFrom: async (path): Promise<ImportReport> => {
      const source = SOURCES.find((one) => one.path === path);
      if (!source) throw { code: 'failed', message: `there is nothing to import at ${path}` };
      if (taken.has(path)) return { added: 0, already: source.sessions, unreadable: [] };
      taken.add(path);
      return {
        added: source.sessions,
        already: 0,
        unreadable: [{ what: 'part prt_19 of msg_07', why: 'EOF while parsing a string at line 6 column 24' }],
      };
    },
  };
}
