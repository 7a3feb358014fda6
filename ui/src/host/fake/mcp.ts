/** MCP servers of the scripted host: one in each state. */
import type { McpServerView, UiError } from '../../protocol';
import type { Host } from '../host';

type Answers = Pick<Host, 'listMcp' | 'setMcpEnabled' | 'restartMcp' | 'acceptMcp' | 'listMcpResources'>;

const tool = (name: string, description: string, changed = false) => ({ name, description, changed });

const samples: readonly McpServerView[] = [
  {
    name: 'files',
    address: 'npx -y @modelcontextprotocol/server-filesystem ~/notes',
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

export function createFakeMcp(): Answers {
  let servers = samples.map((server) => ({ ...server }));
  const change = (name: string, next: (server: McpServerView) => Partial<McpServerView>): McpServerView[] => {
    if (!servers.some((server) => server.name === name)) {
      throw { code: 'not-found', message: `there is no MCP server ${name}` } satisfies UiError;
    }
    servers = servers.map((server) => (server.name === name ? { ...server, ...next(server) } : server));
    return servers;
  };
  const running = (server: McpServerView): Partial<McpServerView> => {
    const { error: _gone, ...rest } = server;
    return { ...rest, status: server.tools.some((one) => one.changed) ? 'changed' : 'ready' };
  };
  return {
    listMcp: async () => servers,
    setMcpEnabled: async (name, on) => change(name, (server) => (on ? running(server) : { status: 'off' })),
    restartMcp: async (name) => change(name, (server) => (server.status === 'off' ? {} : running(server))),
    acceptMcp: async (name) =>
      change(name, (server) => ({
        status: 'ready',
        tools: server.tools.map((one) => ({ ...one, changed: false })),
      })),
    listMcpResources: async () => [
      { server: 'files', uri: 'file:///notes/plan.md', name: 'plan.md', mime: 'text/markdown' },
    ],
  };
}
