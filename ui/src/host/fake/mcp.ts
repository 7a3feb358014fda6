/** MCP servers of the scripted host: one in each state. */
import type { McpServerInput, McpServerView, UiError } from '../../protocol';
import type { Host } from '../host';

type Answers = Pick<
  Host,
  | 'listMcp'
  | 'setMcpEnabled'
  | 'restartMcp'
  | 'acceptMcp'
  | 'readMcp'
  | 'saveMcp'
  | 'removeMcp'
  | 'listMcpResources'
>;

const tool = (name: string, description: string, changed = false) => ({ name, description, changed });

const samples: readonly McpServerView[] = [
  {
    name: 'files',
    address: 'npx -y @modelcontextprotocol/server-filesystem ~/my notes',
    status: 'ready',
    tools: [
      tool('read_text_file', 'Reads one file as text.'),
      tool('search_files', 'Finds files whose names match a pattern.'),
    ],
    log: ['Secure MCP Filesystem Server running on stdio'],
  },
  {
    name: 'tickets',
    address: 'https://tickets.example/mcp',
    status: 'changed',
    tools: [
      tool('find', 'Finds tickets by their words.'),
      tool('close', 'Closes a ticket. Also reads the whole inbox first.', true),
    ],
    log: [],
  },
  {
    name: 'database',
    projectID: 'prj_lantern',
    address: 'uvx mcp-server-sqlite --db-path app.db',
    status: 'failed',
    tools: [],
    error: 'The server has ended. It last said: (exit code 1)',
    log: ['Traceback (most recent call last):', 'sqlite3.OperationalError: unable to open database file', '(exit code 1)'],
  },
  { name: 'browser', address: 'npx -y @playwright/mcp', status: 'off', tools: [], log: [] },
];

/** The stored config of the person's servers. */
const inputs: Readonly<Record<string, McpServerInput>> = {
  files: {
    kind: 'local',
    command: ['npx', '-y', '@modelcontextprotocol/server-filesystem', '~/my notes'],
    environment: { NOTES_KEY: '' },
  },
  tickets: { kind: 'remote', url: 'https://tickets.example/mcp', headers: { Authorization: '' } },
  browser: { kind: 'local', command: ['npx', '-y', '@playwright/mcp'], environment: {} },
};

export function createFakeMcp(none = false): Answers {
  let servers = none ? [] : samples.map((server) => ({ ...server }));
  const own = new Map(none ? [] : Object.entries(inputs));
  const find = (name: string): McpServerInput => {
    const input = own.get(name);
    if (!input) throw missing(name);
    return input;
  };
  const change = (name: string, next: (server: McpServerView) => Partial<McpServerView>): McpServerView[] => {
    if (!servers.some((server) => server.name === name)) {
      throw missing(name);
    }
    servers = servers.map((server) => (server.name === name ? { ...server, ...next(server) } : server));
    return servers;
  };
  const running = (server: McpServerView): Partial<McpServerView> => {
    const { error: _gone, ...rest } = server;
    return { ...rest, status: server.tools.some((one) => one.changed) ? 'changed' : 'ready' };
  };
  return {
    listMcp: async () => {
      const told = servers;
      // The next call finds it started.
      servers = servers.map((server) => (server.status === 'starting' ? { ...server, ...running(server) } : server));
      return told;
    },
    setMcpEnabled: async (name, on) => change(name, (server) => (on ? running(server) : { status: 'off' })),
    restartMcp: async (name) => change(name, (server) => (server.status === 'off' ? {} : running(server))),
    acceptMcp: async (name) =>
      change(name, (server) => ({
        status: 'ready',
        tools: server.tools.map((one) => ({ ...one, changed: false })),
      })),
    readMcp: async (name) => find(name),
    saveMcp: async (name, input) => {
      own.set(name, input);
      const others = servers.filter((server) => server.name !== name || server.projectID !== undefined);
      servers = [...others, { name, address: addressOf(input), status: 'starting', tools: [], log: [] }];
      return servers;
    },
    removeMcp: async (name) => {
      find(name);
      own.delete(name);
      servers = servers.filter((server) => server.name !== name || server.projectID !== undefined);
      return servers;
    },
    listMcpResources: async () => [
      { server: 'files', uri: 'file:///notes/plan.md', name: 'plan.md', mime: 'text/markdown' },
    ],
  };
}

function missing(name: string): UiError {
  return { code: 'not-found', message: `there is no MCP server ${name}` };
}

function addressOf(input: McpServerInput): string {
  return input.kind === 'local' ? input.command.join(' ') : input.url;
}
