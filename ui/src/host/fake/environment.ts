/** Agents, commands, files and trust of a scripted project. */
import type { AgentView, CommandView, ConfigProblem, Mention, ModeView, PermissionMode, SandboxView, TrustView } from '../../protocol';
import type { Host } from '../host';

const AGENTS: AgentView[] = [
  { name: 'build', description: 'Reads, changes and runs your project', mode: 'primary', builtIn: true, default: true },
  { name: 'plan', description: 'Looks and plans; changes nothing but its plan file', mode: 'primary', builtIn: true, default: false },
  { name: 'general', description: 'Works through a task of several steps by itself', mode: 'subagent', builtIn: true, default: false },
  { name: 'explore', description: 'Finds its way around a codebase quickly', mode: 'subagent', builtIn: true, default: false },
  { name: 'reviewer', description: 'Reads a change with fresh eyes', mode: 'all', color: '#b4632a', builtIn: false, default: false },
];

const COMMANDS: CommandView[] = [
  { name: 'init', description: 'Write AGENTS.md for this project', hint: '[what matters]', builtIn: true },
  { name: 'review', description: 'Review what changed', hint: '[what to review]', builtIn: true },
  { name: 'release', description: 'Prepare a release', hint: '[version]', builtIn: false },
];

const FILES: Mention[] = [
  { kind: 'directory', path: 'src' },
  { kind: 'file', path: 'README.md' },
  { kind: 'file', path: 'src/lamp.ts' },
  { kind: 'file', path: 'src/wick.ts' },
  { kind: 'file', path: 'src/a folder with a long name/and a file with an even longer one.test.ts' },
  { kind: 'symbol', name: 'trimWick', symbolKind: 'function', lspKind: 12, path: 'src/wick.ts', line: 3, endLine: 18 },
  { kind: 'symbol', name: 'Lamp', symbolKind: 'class', lspKind: 5, path: 'src/lamp.ts', line: 10, endLine: 64 },
];

type Environment = Pick<
  Host,
  | 'configProblems'
  | 'openConfigFile'
  | 'listAgents'
  | 'listCommands'
  | 'findMentions'
  | 'trust'
  | 'setTrust'
  | 'setProjectEdits'
  | 'projectEdits'
  | 'permissionMode'
  | 'setPermissionMode'
>;

const SANDBOX: SandboxView = {
  engine: 'bubblewrap',
  notCovered: ['The size of what a command writes to the disk is not limited.'],
};

export function createFakeEnvironment(
  state: TrustView['state'],
  sandbox = SANDBOX,
  problems: readonly ConfigProblem[] = [],
): Environment {
  const edits = new Set<string>();
  const modes = new Map<string, PermissionMode>();
  const modeOf = (id: string): ModeView => ({ mode: modes.get(id) ?? 'ask', sandbox });
  let trust: TrustView = {
    state,
    wants:
      state === 'nothing'
        ? []
        : [
            { kind: 'mcp', text: 'Run the MCP server "docs": npx docs-server', file: 'lathe.json' },
            { kind: 'provider', text: 'Send prompts for "local" to http://127.0.0.1:8080/v1', file: 'lathe.json' },
            { kind: 'command', text: 'Run "git log -5" in /release', file: '.lathe/command/release.md' },
          ],
    hash: 'as-shown',
  };
  const name = (mention: Mention) => ('name' in mention ? mention.name : mention.path);
  return {
    configProblems: async () => [...problems],
    openConfigFile: async () => {},
    listAgents: async () => AGENTS,
    listCommands: async () => COMMANDS,
    findMentions: async (_project, _session, query, limit) => {
      const agents = AGENTS.filter((agent) => agent.mode !== 'primary').map(
        ({ name, description }): Mention => ({ kind: 'agent', name, description }),
      );
      const typed = query.toLowerCase();
      return [...agents, ...FILES].filter((one) => name(one).toLowerCase().includes(typed)).slice(0, limit);
    },
    trust: async () => trust,
    setTrust: async (_project, hash) => {
      trust = { ...trust, state: hash === null ? 'untrusted' : 'trusted' };
      return trust;
    },
    permissionMode: async (id) => modeOf(id),
    setPermissionMode: async (id, mode) => {
      modes.set(id, mode);
      return modeOf(id);
    },
    projectEdits: async (id) => edits.has(id),
    setProjectEdits: async (id, allow) => void (allow ? edits.add(id) : edits.delete(id)),
  };
}
