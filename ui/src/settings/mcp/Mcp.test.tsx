import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../../host/fake';
import { show, type TestWindow } from '../../testing/window';
import { Mcp } from './Mcp';

async function page(options: FakeOptions = {}): Promise<TestWindow> {
  const window = show(() => <Mcp />, options);
  await window.app.start();
  await waitFor(() => expect(window.called('listMcp').length).toBeGreaterThan(0));
  return window;
}

const row = (name: string) => screen.findByRole('region', { name });
const rows = () => [...document.querySelectorAll<HTMLElement>('.mcp')].map((one) => one.dataset.server);
const words = (element: Element | null) => element?.textContent ?? '';
const field = (name: string) => screen.getByLabelText(name) as HTMLInputElement;
const type = (name: string, value: string) => fireEvent.input(field(name), { target: { value } });

describe('a server', () => {
  test('says in words whose it is, how it is and where it runs', async () => {
    await page();
    await row('files');
    const said = [...document.querySelectorAll('.mcp')].map((one) =>
      ['.mcp-name', '.mcp-whose', '.mcp-status', '.mcp-address'].map((part) => words(one.querySelector(part))),
    );
    expect(said).toEqual([
      ['files', 'Your servers', 'Ready', 'npx -y @modelcontextprotocol/server-filesystem ~/my notes'],
      ['tickets', 'Your servers', 'Tools have changed', 'https://tickets.example/mcp'],
      ['database', 'From lantern', 'Failed', 'uvx mcp-server-sqlite --db-path app.db'],
      ['browser', 'Your servers', 'Off', 'npx -y @playwright/mcp'],
    ]);
  });

  test('is turned off and on again, and restarted while it is on', async () => {
    const window = await page();
    const files = await row('files');
    const box = within(files).getByRole('switch', { name: 'Use files' }) as HTMLInputElement;
    fireEvent.click(box);
    await waitFor(() => expect(words(files.querySelector('.mcp-status'))).toBe('Off'));
    expect(within(files).queryByRole('button', { name: 'Restart files' })).toBeNull();
    await waitFor(() => expect(box.disabled).toBe(false));
    fireEvent.click(box);
    fireEvent.click(await within(files).findByRole('button', { name: 'Restart files' }));
    await waitFor(() => expect(window.called('restartMcp')).toEqual([['files']]));
    expect(window.called('setMcpEnabled')).toEqual([['files', false], ['files', true]]);
    expect(box.checked).toBe(true);
  });

  test('that cannot be turned on stays off and says why', async () => {
    const window = await page();
    window.host.setMcpEnabled = async () => {
      throw { code: 'failed', message: 'The config cannot be written' };
    };
    const browser = await row('browser');
    const box = within(browser).getByRole('switch') as HTMLInputElement;
    fireEvent.click(box);
    await within(browser).findByText('The config cannot be written');
    expect(box.checked).toBe(false);
  });

  test('whose tools have changed marks them, and uses them once they were looked at', async () => {
    const window = await page();
    const tickets = await row('tickets');
    const marked = () => [...tickets.querySelectorAll('.mcp-tools [data-changed]')].map(words);
    expect(marked()).toEqual(['closechangedCloses a ticket. Also reads the whole inbox first.']);
    fireEvent.click(within(tickets).getByRole('button', { name: 'Accept changes' }));
    await waitFor(() => expect(words(tickets.querySelector('.mcp-status'))).toBe('Ready'));
    expect(window.called('acceptMcp')).toEqual([['tickets']]);
    expect(marked()).toEqual([]);
  });

  test('that failed shows its error and its last output; one that did not keeps both folded', async () => {
    await page();
    const database = await row('database');
    expect(words(database.querySelector('.settings-wrong'))).toContain('The server has ended');
    expect(words(database.querySelector('.mcp-log')).split('\n')).toHaveLength(3);
    const files = await row('files');
    expect(files.querySelector('.mcp-log')).toBeNull();
    fireEvent.click(within(files).getByRole('button', { name: 'Last output' }));
    expect(words(files.querySelector('.mcp-log'))).toBe('Secure MCP Filesystem Server running on stdio');
  });

  test('of a project says where it comes from and cannot be edited here', async () => {
    await page();
    const database = await row('database');
    expect(database.textContent).toContain('From the config of lantern');
    expect(within(database).getAllByRole('button').map((one) => one.textContent)).toEqual(['Last output', 'Restart']);
  });

  test('writes nothing that hides or lies', async () => {
    const window = await page();
    const evil = 'a\u202eb\u001b[8m';
    const tools = [{ name: evil, description: evil, changed: true }];
    window.host.setMcpEnabled = async () => [
      { name: evil, address: evil, status: 'changed', tools, error: evil, log: [evil] },
    ];
    fireEvent.click(within(await row('files')).getByRole('switch'));
    await waitFor(() => expect(rows()).toEqual([evil]));
    fireEvent.click(screen.getByRole('button', { name: 'Last output' }));
    expect(document.body.textContent).not.toMatch(/[\u202e\u001b]/);
    expect(document.body.textContent?.split('a⟨U+202E⟩b⟨U+001B⟩[8m')).toHaveLength(7);
  });
});

describe('removing', () => {
  test('asks once', async () => {
    const window = await page();
    const files = await row('files');
    fireEvent.click(within(files).getByRole('button', { name: 'Remove files' }));
    const asked = within(files).getByRole('group', { name: 'Remove files from your config?' });
    fireEvent.keyDown(within(asked).getByText('Cancel'), { key: 'Escape' });
    expect(document.activeElement).toBe(within(files).getByRole('button', { name: 'Remove files' }));
    fireEvent.click(within(files).getByRole('button', { name: 'Remove files' }));
    fireEvent.click(within(files).getByText('Remove'));
    await waitFor(() => expect(rows()).toEqual(['tickets', 'database', 'browser']));
    expect(window.called('removeMcp')).toEqual([['files']]);
  });
});

describe('the form', () => {
  test('adds a program, and tells the list that it starts', async () => {
    const window = await page({ empty: true });
    expect(await screen.findByText(/No MCP servers yet/)).toBeTruthy();
    fireEvent.click(screen.getByTestId('add-mcp'));
    expect(document.activeElement).toBe(field('Name'));
    type('Name', ' notes ');
    type('Command', 'npx -y server "my notes"');
    type('Environment variables', 'KEY=secret');
    fireEvent.click(screen.getByText('Save'));
    expect(words((await row('notes')).querySelector('.mcp-status'))).toBe('Starting…');
    const input = { kind: 'local', command: ['npx', '-y', 'server', 'my notes'], environment: { KEY: 'secret' } };
    expect(window.called('saveMcp')).toEqual([['notes', input]]);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Edit notes' }));
  });

  test('adds an address', async () => {
    const window = await page();
    fireEvent.click(screen.getByTestId('add-mcp'));
    type('Name', 'web');
    fireEvent.click(screen.getByLabelText('Remote URL'));
    type('URL', 'https://web.example/mcp');
    fireEvent.click(screen.getByText('Save'));
    await row('web');
    expect(window.called('saveMcp')).toEqual([
      ['web', { kind: 'remote', url: 'https://web.example/mcp', headers: {} }],
    ]);
  });

  test('says at each field what is wrong, goes to the first, and saves nothing', async () => {
    const window = await page();
    await row('files');
    fireEvent.click(screen.getByTestId('add-mcp'));
    type('Name', 'files');
    fireEvent.click(screen.getByText('Save'));
    expect(screen.getAllByRole('alert').map(words)).toEqual([
      'A server with this name already exists.',
      'Enter a command.',
    ]);
    expect(document.activeElement).toBe(field('Name'));
    expect(window.called('saveMcp')).toEqual([]);
  });

  test('edits what is stored, without its secrets', async () => {
    const window = await page();
    fireEvent.click(within(await row('files')).getByRole('button', { name: 'Edit files' }));
    await screen.findByTestId('mcp-form');
    expect(screen.queryByLabelText('Name')).toBeNull();
    expect([field('Command').value, field('Environment variables').value]).toEqual([
      'npx -y @modelcontextprotocol/server-filesystem "~/my notes"',
      'NOTES_KEY=',
    ]);
    type('Command', 'files-server');
    fireEvent.click(screen.getByText('Save'));
    await row('files');
    const input = { kind: 'local', command: ['files-server'], environment: { NOTES_KEY: '' } };
    expect(window.called('saveMcp')).toEqual([['files', input]]);
  });

  test('stays open with the reason when it cannot be saved, and Escape closes it alone', async () => {
    const window = await page();
    window.host.saveMcp = async () => {
      throw { code: 'storage', message: 'The disk is full' };
    };
    fireEvent.click(within(await row('tickets')).getByRole('button', { name: 'Edit tickets' }));
    await screen.findByTestId('mcp-form');
    fireEvent.click(screen.getByText('Save'));
    await screen.findByText('The disk is full');
    fireEvent.keyDown(field('URL'), { key: 'Escape' });
    expect(document.activeElement).toBe(await screen.findByRole('button', { name: 'Edit tickets' }));
  });
});
