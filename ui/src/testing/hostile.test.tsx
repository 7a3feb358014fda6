/** Names that hide or lie, in every dialog and pane that shows names. */
import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { visibleLine } from '../text/visible';
import type { PermissionRequest, QuestionRequest } from '../protocol';
import type { SettingsSection } from '../store/app';
import { openWindow, type TestWindow } from './window';

const EVIL = 'a\u202eb\u001b[8mc\u200bd\ufe0f';
const SHOWN = visibleLine(EVIL);
const HIDDEN = /[\u202e\u001b\u200b\ufe0f]/;

/** A host whose every name is hostile. */
async function ready(): Promise<TestWindow> {
  const window = openWindow({ connected: true, trust: 'untrusted' });
  const { host } = window;
  const { start, listModels, trust, reviewFiles, listMcp } = host;
  host.start = async () => {
    const begun = await start();
    return { ...begun, projects: begun.projects.map((one) => ({ ...one, name: EVIL, worktree: `/${EVIL}` })) };
  };
  host.trust = async (id) => ({ ...(await trust(id)), wants: [{ kind: 'mcp', text: EVIL, file: EVIL }] });
  host.listModels = async (id) => {
    const list = await listModels(id);
    const providers = list.providers.map((provider) => ({
      ...provider,
      name: EVIL,
      keyEnv: [EVIL],
      models: provider.models.map((model) => ({ ...model, name: EVIL })),
    }));
    return { ...list, providers, problems: [EVIL] };
  };
  host.testConnection = async () => ({ ok: false, message: EVIL });
  host.listAgents = async () => [
    { name: EVIL, description: EVIL, mode: 'primary', builtIn: false, default: true, model: { providerID: EVIL, modelID: EVIL } },
    { name: 'plan', description: EVIL, mode: 'primary', builtIn: true, default: false },
  ];
  host.approvedRules = async () => [{ permission: EVIL, pattern: EVIL, action: 'allow' }];
  host.findImports = async () => [{ kind: 'json', path: EVIL, sessions: 1 }];
  host.importFrom = async () => ({
    added: 0,
    already: 0,
    grown: 0,
    stopped: false,
    left_out: [{ what: EVIL, why: EVIL, count: 1 }],
    unreadable: [{ what: EVIL, why: EVIL }],
  });
  host.dataUse = async () => ({ path: EVIL, uses: [] });
  host.checkData = async () => ({ records: 1, damaged: [{ key: EVIL, reason: EVIL }], orphans: 0, strays: [EVIL] });
  host.listMcp = async () => (await listMcp()).map((server) => ({ ...server, name: EVIL, address: EVIL, error: EVIL }));
  host.reviewFiles = async (id, scope) => {
    const found = await reviewFiles(id, scope);
    return { ...found, files: found.files.map((file, at) => ({ ...file, path: `${EVIL}${at}`, oldPath: EVIL })) };
  };
  host.previewRevertLines = async () => ({
    files: [{ path: EVIL, change: 'conflict', merged: false, additions: 0, deletions: 0, reason: EVIL, hunks: [], conflicts: [] }],
    mustAsk: true,
  });
  host.previewRevert = async () => ({
    files: [{ path: EVIL, change: 'conflict', additions: 0, deletions: 0, reason: EVIL }],
    hidesMessages: 0,
  });
  const session = host.sessions.get('ses_docs');
  if (session) host.sessions.set('ses_docs', { ...session, title: EVIL });
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  // The first start was under way before the names were changed.
  await window.app.refresh();
  await window.app.models.refresh();
  return window;
}

/** Everything that is read or read out below an element. */
function saidIn(element: Element): string[] {
  const all = [element, ...element.querySelectorAll('*')];
  const named = all.flatMap((one) => ['title', 'aria-label', 'aria-description', 'alt'].map((name) => one.getAttribute(name)));
  return [element.textContent ?? '', ...named.filter((one) => one !== null)];
}

function expectHonest(element: Element): void {
  const said = saidIn(element);
  expect(said.filter((one) => HIDDEN.test(one))).toEqual([]);
  expect(said.join('\n')).toContain(SHOWN);
}

describe('names that hide or lie are drawn with their codes', () => {
  test.each<SettingsSection>(['providers', 'permissions', 'agents', 'mcp', 'data'])('in the settings: %s', async (section) => {
    const window = await ready();
    window.app.show({ name: 'settings', section });
    const dialog = await screen.findByTestId('settings');
    await waitFor(() => expect(dialog.textContent).toContain(SHOWN));
    if (section === 'data') {
      fireEvent.click(screen.getByTestId('check-data'));
      fireEvent.click(screen.getByRole('button', { name: `Import from ${SHOWN}` }));
      await waitFor(() => expect(dialog.querySelectorAll('.settings-problems')).toHaveLength(3));
    }
    expectHonest(dialog);
  });

  test('in the palette', async () => {
    const window = await ready();
    window.app.show({ name: 'palette' });
    expectHonest(await screen.findByTestId('palette'));
  });

  test('in the list of models', async () => {
    const window = await ready();
    window.app.show({ name: 'models' });
    await screen.findByTestId('model-search');
    expectHonest(document.querySelector('.model-popover') as Element);
  });

  test('in the review, its list of files and the preview of a revert', async () => {
    const window = await ready();
    window.app.review.open();
    const pane = await screen.findByTestId('review');
    await waitFor(() => expect(pane.querySelectorAll('.review-file-name').length).toBeGreaterThan(1));
    fireEvent.click(screen.getAllByTestId('revert-file')[0] as Element);
    await screen.findByTestId('lines-confirm');
    expectHonest(pane);
  });

  test('where a project asks for trust', async () => {
    await ready();
    expectHonest(await screen.findByTestId('trust-banner'));
  });

  test('in the title of the window', async () => {
    const window = await ready();
    await window.app.select('ses_docs');
    await waitFor(() => expect(document.title).toContain(SHOWN));
    expectHonest(document.querySelector('.title-bar') as Element);
  });

  test.each(['bash', 'webfetch', 'edit', 'external_directory', 'doom_loop', EVIL])(
    'in a permission request: %j',
    async (permission) => {
      const window = await ready();
      const metadata = Object.fromEntries(
        ['command', 'url', 'filepath', 'description', 'server', 'tool', 'diff'].map((key) => [key, EVIL]),
      );
      const request: PermissionRequest = {
        id: 'per_evil',
        sessionID: 'ses_gallery',
        permission,
        patterns: [EVIL],
        always: [EVIL],
        metadata: { ...metadata, input: { [EVIL]: EVIL }, reasons: [EVIL] },
      };
      window.host.emit({ kind: 'event', event: { type: 'permission.asked', properties: request } });
      await waitFor(() => expect(document.querySelector('[data-permission]')).not.toBeNull());
      expectHonest(document.querySelector('[data-permission]') as Element);
    },
  );

  test('where the agent asks something', async () => {
    const window = await ready();
    const request: QuestionRequest = {
      id: 'que_evil',
      sessionID: 'ses_gallery',
      questions: [{ question: EVIL, header: EVIL, options: [{ label: EVIL, description: EVIL }] }],
    };
    window.host.emit({ kind: 'event', event: { type: 'question.asked', properties: request } });
    await waitFor(() => expect(document.querySelector('[data-question]')).not.toBeNull());
    expectHonest(document.querySelector('[data-question]') as Element);
  });

  test('in the list of projects and sessions, and where their words are found', async () => {
    const window = await ready();
    const { search } = window.host;
    window.host.search = async (words, limit) => {
      const answer = await search(words, limit);
      return { ...answer, hits: answer.hits.map((hit) => ({ ...hit, title: EVIL, snippet: [{ text: EVIL, hit: true }] })) };
    };
    const sidebar = screen.getByTestId('sidebar');
    await waitFor(() => expect(sidebar.querySelector('[data-session-id=ses_docs]')?.textContent).toContain(SHOWN));
    expectHonest(sidebar);
    fireEvent.input(screen.getByTestId('session-filter'), { target: { value: 'the' } });
    await waitFor(() => expect(document.querySelector('.search-snippet')?.textContent).toBe(SHOWN));
    expectHonest(sidebar);
  });

  test('on the page of a session that has nothing in it yet', async () => {
    const window = await ready();
    await window.app.create();
    await waitFor(() => expect(document.querySelector('.empty')).not.toBeNull());
    expectHonest(document.querySelector('.empty') as Element);
  });

  test('where a model failed, and while it is asked once more', async () => {
    const window = await ready();
    const last = window.app.timeline.open()?.messages.at(-1)?.info;
    if (last?.role !== 'assistant') throw new Error('the gallery ends with an answer');
    const info = { ...last, error: { name: 'UnknownError' as const, data: { message: EVIL } } };
    const status = { type: 'retry' as const, attempt: 1, message: EVIL, next: Date.now() + 60_000 };
    window.host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
    window.host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status } } });
    await waitFor(() => expect(document.querySelector('.working-retry')).not.toBeNull());
    expectHonest(document.querySelector('.working') as Element);
    await waitFor(() => expect([...document.querySelectorAll('.answer-failure')].at(-1)?.textContent).toContain(SHOWN));
    expectHonest([...document.querySelectorAll('.answer-failure')].at(-1) as Element);
  });

  test('in notices', async () => {
    const window = await ready();
    window.app.toasts.show({ tone: 'error', text: EVIL, detail: EVIL });
    expectHonest(await screen.findByTestId('toast'));
  });
});
