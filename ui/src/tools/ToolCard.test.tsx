import { fireEvent, render, waitFor } from '@solidjs/testing-library';
import { createSignal } from 'solid-js';
import { describe, expect, test, vi } from 'vitest';
import { en } from '../i18n/en';
import type { ToolState } from '../protocol';
import { AppProvider } from '../store/context';
import { openWindow, show } from '../testing/window';
import { toolLooks, type ToolName } from './registry';
import { done, draw, opened, part, texts, unfold } from '../testing/tool-card';
import { ToolCard } from './ToolCard';

const inputs: { [N in ToolName]: [Record<string, unknown>, string, string[]] } = {
  read: [{ filePath: 'src/a.rs', offset: 12, limit: 50 }, 'src/a.rs', ['from line 12', '50 lines']],
  list: [{ path: 'src' }, 'src', []],
  glob: [{ pattern: '**/*.rs' }, '**/*.rs', []],
  grep: [{ pattern: 'fn main', path: 'src', include: '*.rs' }, 'fn main  src', ['in *.rs']],
  webfetch: [{ url: 'https://example.com', format: 'text' }, 'https://example.com', ['as text']],
  task: [{ description: 'Look around', subagent_type: 'explore' }, 'Look around', ['explore']],
  bash: [{ command: 'cargo test\nls', workdir: 'ui' }, 'cargo test', ['in ui']],
  edit: [{ filePath: 'src/a.rs', replaceAll: true }, 'src/a.rs', ['all matches']],
  write: [{ filePath: 'src/a.rs' }, 'src/a.rs', []],
  apply_patch: [
    { patchText: '*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.txt\n*** End Patch' },
    'a.txt, b.txt',
    [],
  ],
  todowrite: [{ todos: [{}, {}] }, '2 items', []],
  todoread: [{}, '', []],
  question: [{ questions: [{}] }, '', []],
};

describe('every tool', () => {
  test.each(Object.keys(toolLooks) as ToolName[])('%s says what it does', (tool) => {
    const [input, subtitle, args] = inputs[tool];
    const { card } = draw(tool, done(input));
    expect(card.dataset).toMatchObject({ tool, status: 'completed' });
    expect(card.querySelector('.card-title')?.textContent).toBe(en.tool.names[tool]);
    expect(card.querySelector('.card-subtitle')?.textContent).toBe(subtitle);
    expect(texts(card, '.card-arg')).toEqual(args);
    // How long a question took is the person's own time.
    const time = tool === 'question' ? 'Done' : 'Done4.1 s';
    expect(card.querySelector('.card-aside')?.textContent).toBe(args.join('') + time);
  });

  test.each(Object.keys(toolLooks) as ToolName[])('%s is drawn in every state, open and closed', (tool) => {
    const [input] = inputs[tool];
    const states: ToolState[] = [
      { status: 'pending', input: {}, raw: '{"filePath": "src/la' },
      { status: 'running', input, time: { start: 0 } },
      done(input),
      { status: 'error', input, error: 'It did not work', time: { start: 0, end: 5 } },
    ];
    for (const state of states) {
      const { card } = draw(tool, state);
      const head = card.querySelector('.card-head') as HTMLElement;
      if (head.getAttribute('aria-expanded') === 'false') unfold(card);
      expect(card.dataset.status).toBe(state.status);
      expect(card.querySelector('.card-body')).toBeTruthy();
    }
  });

  test('an unknown tool is shown by its name, with its input and output', async () => {
    const { card } = await opened('lantern_dim', done({ level: 40, room: 'study' }));
    expect(card.querySelector('.card-head')?.textContent).toContain('lantern_dimstudy');
    await waitFor(() =>
      expect(texts(card, 'pre')).toEqual(['{\n  "level": 40,\n  "room": "study"\n}', 'out']),
    );
  });
});

describe('every state', () => {
  test('pending shows the arguments as they stream in, in the head as well', () => {
    const raw = '{"filePath": "src/lamp.rs", "content": "pub fn se';
    const { card, called } = draw('write', { status: 'pending', input: {}, raw });
    expect(card.textContent).toContain('Preparing');
    expect(card.querySelector('.card-subtitle')?.textContent).toBe('src/lamp.rs');
    unfold(card);
    expect(card.querySelector('pre')?.textContent).toBe(raw);
    expect(called('toolDetails')).toEqual([]);
  });

  test('running shows that it waits, while a request for it is open', async () => {
    const state: ToolState = { status: 'running', input: { command: 'make' }, time: { start: 0 } };
    const window = show(() => <ToolCard part={part('bash', state)} />);
    const card = () => window.container.querySelector('.tool') as HTMLElement;
    await window.app.start();
    await window.app.select('ses_gallery');
    const tool = { messageID: 'msg_1', callID: 'call_1' };
    const properties = { id: 'per_a', sessionID: 'ses_gallery', permission: 'bash', patterns: [], metadata: {}, always: [], tool };
    window.host.emit({ kind: 'event', event: { type: 'permission.asked', properties } });
    await waitFor(() => expect(card().textContent).toContain('Waiting for you'));
    expect(card().textContent).not.toContain('Running');
    expect(card().dataset.waiting).toBe('');
  });

  test('running shows that it runs, and what a command printed so far in its colours', () => {
    const state: ToolState = { status: 'running', input: { command: 'cargo test' }, time: { start: 0 } };
    const { card } = draw('bash', state, '<span class="ansi-fg-2">ok</span> 14 tests');
    expect(card.textContent).toContain('Running');
    expect(texts(card, 'pre')).toEqual(['cargo test', 'ok 14 tests']);
    expect(card.querySelector('.terminal .ansi-fg-2')?.textContent).toBe('ok');
  });

  test.each([
    ['well, is a line again', { exit: 0 }, 'false'],
    ['badly, shows its output', { exit: 1 }, 'true'],
    ['by its time limit, shows its output', { exit: null, timedOut: true }, 'true'],
  ])('a command shows its output while it runs, and if it ends %s', async (_how, metadata, expanded) => {
    const running: ToolState = { status: 'running', input: { command: 'ls' }, time: { start: 0 } };
    const [call, setCall] = createSignal(part('bash', running));
    const { container } = show(() => <ToolCard part={call()} />);
    const head = container.querySelector('.card-head');
    expect(head?.getAttribute('aria-expanded')).toBe('true');
    setCall(part('bash', done({ command: 'ls' }, 'out', metadata)));
    expect(head?.getAttribute('aria-expanded')).toBe(expanded);
  });

  test('a command bears the description that the agent gave it', () => {
    const { card } = draw('bash', done({ command: 'cargo test -p lamp', description: 'Run the lamp tests' }));
    expect(card.querySelector('.card-title')?.textContent).toBe('Run the lamp tests');
    expect(card.querySelector('.card-subtitle')?.textContent).toBe('cargo test -p lamp');
  });

  test('a command that waits for a permission says so, and leaves the command to the request', async () => {
    const state: ToolState = { status: 'running', input: { command: 'rm -r x', description: 'Clean up' }, time: { start: 0 } };
    const call = part('bash', state);
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    const { container } = render(() => (
      <AppProvider value={window.app}>
        <ToolCard part={call} />
      </AppProvider>
    ));
    const request = {
      id: 'per_x',
      sessionID: 'ses_gallery',
      permission: 'bash',
      patterns: ['rm -r x'],
      metadata: { command: 'rm -r x' },
      always: [],
      tool: { messageID: call.messageID, callID: call.callID },
    };
    const head = () => [...container.querySelectorAll('.card-head > span')].map((one) => one.textContent);
    expect(head()).toEqual(['Clean up', 'rm -r x', 'Running']);
    window.host.emit({ kind: 'event', event: { type: 'permission.asked', properties: request } });
    await waitFor(() => expect(head()).toEqual(['Clean up', '', 'Waiting for you']));
    expect(container.querySelector('.card-body')).toBeNull();
  });

  test('the time of a call is without the time in which it waited for the person', () => {
    const waits = [{ start: 100, end: 3000 }, { start: 2000, end: 3100 }];
    expect(draw('bash', done({ command: 'ls' }, 'out', { waits, exit: 0 })).card.querySelector('.card-aside')?.textContent).toBe('Done1.1 s');
    const all = [{ start: 0, end: 3500 }];
    expect(draw('bash', done({ command: 'ls' }, 'out', { waits: all, exit: 0 })).card.querySelector('.card-aside')?.textContent).toBe('Done');
  });

  test('completed fetches what it shows when it is opened, and not before', async () => {
    const { card, called } = draw('read', done({ filePath: 'a.rs' }, '    12\tfn main() {}\n    13\t'));
    expect(called('toolDetails')).toEqual([]);
    unfold(card);
    await waitFor(() => expect(card.textContent).toContain('fn main() {}'));
    expect(called('toolDetails')).toEqual([['ses_a', 'msg_1', 'prt_1', false]]);
    expect([...card.querySelectorAll('.line-number')].map((one) => one.getAttribute('data-number'))).toEqual([
      '12',
      '13',
    ]);
  });

  test('completed without output says so', async () => {
    const { card } = await opened('read', done({}, ''));
    await waitFor(() => expect(card.textContent).toContain('No output'));
  });

  test('an error says why, and asks to have it tried again', async () => {
    const state: ToolState = {
      status: 'error',
      input: { filePath: 'a.rs' },
      error: 'There is no file a.rs',
      time: { start: 0, end: 5 },
    };
    const { card, app, called } = await opened('read', state);
    expect(card.querySelector('.card')?.getAttribute('data-tone')).toBe('danger');
    await waitFor(() => expect(texts(card, 'pre')).toEqual(['There is no file a.rs']));
    await app.start();
    fireEvent.click(card.querySelector('[data-testid=retry-tool]') as Element);
    await waitFor(() => expect(called('prompt')).toHaveLength(1));
    expect(called('prompt')[0]?.[1]).toMatchObject({
      text: 'Your read call failed with “There is no file a.rs”. Find out why and retry it.',
    });
  });

  test('what cannot be loaded says so', async () => {
    const drawn = draw('read', done({ filePath: 'a.rs' }));
    drawn.host.toolDetails = () => Promise.reject({ code: 'failed', message: 'gone' });
    drawn.host.messages.clear();
    unfold(drawn.card);
    await waitFor(() => expect(drawn.card.textContent).toContain('Couldn’t load:'));
  });

  test('output that the model no longer sees is still there for the person', async () => {
    const state = { ...done({}, 'kept'), time: { start: 0, end: 1, compacted: 2 } } as ToolState;
    const { card } = await opened('lamp', state);
    await waitFor(() => expect(card.textContent).toContain('kept'));
    expect(card.textContent).toContain('No longer in the model’s context');
  });
});

describe('the content of each card', () => {
  test('a search: by file, with highlighted matches that open in the editor', async () => {
    const output = 'src/a.rs:\n  3: let lamp = 1;\n  9: lamp\n\nsrc/b.rs:\n  1: lamp';
    const { card, app, called } = await opened('grep', done({ pattern: 'lamp' }, output));
    await waitFor(() => expect(texts(card, '.match-file h4')).toEqual(['src/a.rs2', 'src/b.rs1']));
    expect(texts(card, '.marked')).toEqual(['lamp', 'lamp', 'lamp']);
    await app.start();
    fireEvent.click(card.querySelectorAll('.match-line')[1] as Element);
    expect(called('openInEditor')).toEqual([[app.selected(), 'src/a.rs', 9]]);
  });

  test('found files and folders: each file opens in the editor', async () => {
    const glob = await opened('glob', done({ pattern: '*' }, 'a.rs\nsrc/b.rs'));
    await waitFor(() => expect(texts(glob.card, '.file-link')).toEqual(['a.rs', 'src/b.rs']));
    const list = await opened('list', done({}, '/p/\n  src/\n    b.rs\n  a.rs'));
    await waitFor(() => expect(texts(list.card, '.tree-entry')).toEqual(['src/', 'b.rs', 'a.rs']));
    expect(list.card.querySelector('.file-link')?.getAttribute('data-path')).toBe('src/b.rs');
  });

  test('a command: itself, its output in colours, its exit code, both to copy', async () => {
    const writeText = vi.fn(async () => {});
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
    const metadata = { output: '\u001b[31mfailed\u001b[0m', exit: 101 };
    const { card } = await opened('bash', done({ command: 'cargo test' }, 'failed', metadata));
    expect(card.querySelector('.exit-code')?.textContent).toBe('exit 101');
    await waitFor(() => expect(card.querySelector('.terminal .ansi-fg-1')?.textContent).toBe('failed'));
    for (const button of card.querySelectorAll('.card-copy')) fireEvent.click(button);
    expect(writeText.mock.calls).toEqual([['cargo test'], ['failed']]);
    vi.unstubAllGlobals();
  });

  test('an edit: its difference, and how many lines it changed before it is opened', async () => {
    const filediff = { file: 'a.rs', before: 'a\nb\n', after: 'a\nc\n', additions: 1, deletions: 1 };
    const { card } = await opened('edit', done({ filePath: 'a.rs' }, 'Edited', { filediff }));
    expect(card.querySelector('.card-aside .counts')?.textContent).toBe('+1 −1');
    await waitFor(() => expect(texts(card, '.diff-line code')).toEqual(['a', 'b', 'c']));
    expect([...card.querySelectorAll<HTMLElement>('.diff-line')].map((line) => line.dataset.kind)).toEqual([
      'context',
      'del',
      'add',
    ]);
  });

  test('a patch: each file under its name', async () => {
    const files = [
      { file: 'a.rs', before: 'a\n', after: 'b\n', additions: 1, deletions: 1 },
      { file: 'new.rs', after: 'x\n', additions: 1, deletions: 0 },
    ];
    const { card } = await opened('apply_patch', done({}, 'applied', { files }));
    await waitFor(() => expect(texts(card, '.diff-file .file-link')).toEqual(['a.rs', 'new.rs']));
    expect(texts(card, '.diff-status')).toEqual(['new']);
  });

  test('tasks to do: a list with their states', async () => {
    const todos = [
      { content: 'Look', status: 'completed', priority: 'low' },
      { content: 'Fix', status: 'in_progress', priority: 'high' },
    ];
    const { card } = await opened('todowrite', done({ todos }, '[]', { todos }));
    expect(texts(card, '.check-item')).toEqual(['Lookdone', 'Fixin progresshigh priority']);
  });

  test('a question: the answers that were given', async () => {
    const questions = [
      { question: 'Which lamp?', header: 'Lamp', options: [] },
      { question: 'When?', header: 'When', options: [] },
    ];
    const { card } = await opened('question', done({ questions }, '', { answers: [['Study', 'Hall'], []] }));
    expect(texts(card, 'dd')).toEqual(['Study, Hall', 'No answer']);
    expect(texts(card, '.card-head > span').slice(0, 2)).toEqual(['2 questions', 'Study, Hall · No answer']);
  });

  test('one question and its answer are in the line itself', () => {
    const questions = [{ question: 'Which lamp?', header: 'Lamp', options: [] }];
    const { card } = draw('question', done({ questions }, '', { answers: [['Study']] }));
    expect(texts(card, '.card-head > span').slice(0, 2)).toEqual(['Which lamp?', 'Study']);
  });

  test('a task: what it does now, and the way to it', async () => {
    const metadata = {
      sessionId: 'ses_docs',
      summary: [
        { id: 'p1', tool: 'grep', state: { status: 'completed', title: 'timer' } },
        { id: 'p2', tool: 'read', state: { status: 'running', title: 'src/a.rs' } },
      ],
    };
    const input = { description: 'Look', prompt: 'Look at it', subagent_type: 'explore' };
    const { card, app } = draw('task', { status: 'running', input, metadata, time: { start: 0 } });
    expect(texts(card, '.task-step')).toEqual(['Searchtimer', 'Readsrc/a.rs']);
    await app.start();
    fireEvent.click(card.querySelector('[data-testid=open-task]') as Element);
    await waitFor(() => expect(app.selected()).toBe('ses_docs'));
  });

  test('no markup of a title or an argument becomes an element', () => {
    const evil = '<img src=x onerror=alert(1)>\u202Etxt';
    const { card } = draw('bash', done({ command: evil }));
    expect(card.querySelector('img')).toBeNull();
    expect(card.querySelector('.card-subtitle')?.textContent).toBe('<img src=x onerror=alert(1)>⟨U+202E⟩txt');
  });
});

describe('a call without a result', () => {
  const ended = (outcome: string | undefined, error = 'why'): ToolState => ({
    status: 'error',
    input: { command: 'rm -r target' },
    error,
    ...(outcome !== undefined && { metadata: { outcome } }),
    time: { start: 0, end: 1 },
  });

  test.each([
    ['denied', 'Denied', 'warn'],
    ['not_run', 'Not run', 'quiet'],
    ['stopped', 'Stopped', 'plain'],
  ])('%s says “%s” and does not look failed', async (outcome, words, tone) => {
    const { card } = await opened('bash', ended(outcome));
    expect(card.dataset.outcome).toBe(outcome);
    expect(card.querySelector<HTMLElement>('.card')?.dataset.tone).toBe(tone);
    expect(card.querySelector('.card-aside')?.textContent).toBe(words);
    expect(card.textContent).not.toContain('Failed');
    expect(card.querySelector('.card-error')).toBeNull();
    expect(card.querySelector('[data-testid="retry-tool"]')).toBeNull();
  });

  test.each([
    ['with an unknown outcome', ended('vanished')],
    ['without one', ended(undefined)],
  ])('%s has failed', (_name, state) => {
    const { card } = draw('bash', state);
    expect(card.dataset.outcome).toBeUndefined();
    expect(card.querySelector('.card-aside')?.textContent).toBe('Failed');
  });

  test('of an earlier version was stopped if it says so', () => {
    expect(draw('bash', ended(undefined, 'Tool execution aborted')).card.dataset.outcome).toBe('stopped');
  });
});
