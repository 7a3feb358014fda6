/** How calls end, and that what is shown of them is all there is. */
import { fireEvent, waitFor } from '@solidjs/testing-library';
import { createSignal } from 'solid-js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ToolState } from '../protocol';
import { show } from '../testing/window';
import { done, draw, opened, part, texts } from '../testing/tool-card';
import { ToolCard } from './ToolCard';

afterEach(() => vi.unstubAllGlobals());

const failed = (
  input: Record<string, unknown>,
  error: string,
  metadata: Record<string, unknown> = {},
): ToolState => ({ status: 'error', input, error, metadata, time: { start: 0, end: 5 } });

/** What is copied from a card, by its copy buttons in order. */
function copied(card: HTMLElement): readonly unknown[] {
  const writeText = vi.fn(async (_text: string) => {});
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
  for (const button of card.querySelectorAll('.card-copy')) fireEvent.click(button);
  return writeText.mock.calls.flat();
}

describe('a long text', () => {
  const long = 'echo lamp; '.repeat(200);
  const short = `${long.slice(0, 1024)}…`;

  test('that is a command is shown and copied whole', async () => {
    const { card } = await opened('bash', done({ command: short }), done({ command: long }));
    await waitFor(() => expect(card.querySelector('.card-command')?.textContent).toBe(long));
    expect(copied(card)[0]).toBe(long);
  });

  test('that another agent was asked is shown whole', async () => {
    const { card } = await opened('task', done({ prompt: short }), done({ prompt: long }));
    await waitFor(() => expect(card.querySelector('pre')?.textContent).toBe(long));
  });

  test('that a person answered is shown whole', async () => {
    const questions = [{ question: 'Why?', header: 'Why', options: [] }];
    const { card } = await opened(
      'question',
      done({ questions }, 'out', { answers: [[short]] }),
      done({ questions }, 'out', { answers: [[long]] }),
    );
    await waitFor(() => expect(texts(card, 'dd')).toEqual([long]));
  });

  test('that is a patch does not hide the files that it changed', () => {
    const patchText = '*** Begin Patch\n*** Update File: a.rs\n@@\n…';
    const files = ['a.rs', 'b.rs', 'c.rs'].map((file) => ({ file, additions: 1, deletions: 0 }));
    const head = (state: ToolState) => draw('apply_patch', state).card.querySelector('.card-subtitle')?.textContent;
    expect(head(done({ patchText }, 'out', { files }))).toBe('a.rs, b.rs, c.rs');
    expect(head({ status: 'running', input: { patchText }, time: { start: 0 } })).toBe('a.rs, …');
  });
});

describe('a command', () => {
  test('names the protected files that it made and that did not stay', async () => {
    const state = done({ command: 'sh make.sh' }, 'out', { output: 'out', exit: 0, setAside: ['sub/.envrc'] });
    const { card } = await opened('bash', state, state);
    const said = 'Protected files renamed to “.set-aside”: sub/.envrc';
    await waitFor(() => expect(texts(card, '.card-label')).toContain(said));
  });

  test('says what of it a revert will not cover, also when it failed', async () => {
    const notCovered = ['What git itself stores can’t be reverted'];
    for (const state of [done({ command: 'make' }, 'out', { notCovered }), failed({ command: 'make' }, 'no', { notCovered })]) {
      const { card } = await opened('bash', state, state);
      expect(texts(card, '[data-testid="uncovered"]')).toEqual(['can’t be fully reverted']);
      await waitFor(() => expect(texts(card, 'p.card-label')).toContain(notCovered[0]));
    }
  });

  test.each([
    [{ exit: null, timedOut: true }, 'timed out'],
    [{ exit: null }, 'killed'],
    [{ exit: 3 }, 'exit 3'],
    [{ exit: 0 }, undefined],
    [{}, undefined],
  ])('with %j says how it ended', (metadata, said) => {
    const { card } = draw('bash', done({ command: 'make' }, 'out', metadata));
    expect(card.querySelector('.card-aside .exit-code')?.textContent).toBe(said);
  });

  test('that was denied says why once', async () => {
    const { card } = await opened('bash', failed({ command: 'make' }, 'Not allowed'));
    await waitFor(() => expect(texts(card, 'pre')).toEqual(['make', 'Not allowed']));
    expect(texts(card, 'span.card-label')).toEqual(['Command', 'Failed']);
  });

  test('that was broken off has its output, to copy', async () => {
    const { card } = await opened('bash', failed({ command: 'make' }, 'Stopped', { output: 'one\ntwo' }));
    await waitFor(() => expect(texts(card, 'pre')).toEqual(['make', 'Stopped', 'one\ntwo']));
    expect(texts(card, 'span.card-label')).toEqual(['Command', 'Failed', 'Output']);
    expect(copied(card)).toEqual(['make', 'Stopped', 'one\ntwo']);
  });

  test('that printed much says that its beginning is not shown, and where all of it is', async () => {
    const printed = { output: 'two', cardCut: true };
    const kept = await opened('bash', done({ command: 'make' }, 'one\ntwo', { ...printed, truncated: false }));
    await waitFor(() => expect(kept.card.textContent).toContain('Copy the output to get all of it.'));
    expect(copied(kept.card)[1]).toBe('one\ntwo');

    const saved = { ...printed, truncated: true, outputPath: '/data/out.txt' };
    for (const state of [done({ command: 'make' }, 'one…two', saved), failed({ command: 'make' }, 'Stopped', saved)]) {
      const { card } = await opened('bash', state);
      await waitFor(() => expect(card.textContent).toContain('The beginning is hidden.'));
      expect(card.querySelector('.card-whole')?.getAttribute('data-path')).toBe('/data/out.txt');
    }
  });
});

describe('a change that failed', () => {
  test('can be read: a patch as it was written', async () => {
    const patchText = '*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n*** End Patch';
    const { card } = await opened('apply_patch', failed({ patchText }, 'The patch does not fit'));
    await waitFor(() => expect(texts(card, '.code-line code').join('\n')).toContain('+new'));
    expect(texts(card, 'span.card-label')).toEqual(['Failed', 'Intended changes']);
  });

  test('shows its arguments where no change can be drawn from them', async () => {
    const { card } = await opened('edit', failed({ oldString: 'a' }, 'There is no path'));
    await waitFor(() => expect(texts(card, 'pre')).toEqual(['There is no path', '{\n  "oldString": "a"\n}']));
  });
});

describe('a task under way', () => {
  const doing = (...titles: string[]): ToolState => ({
    status: 'running',
    input: { description: 'Look' },
    metadata: { summary: titles.map((title) => ({ tool: 'read', state: { status: 'running', title } })) },
    time: { start: 0 },
  });

  function started() {
    const [call, setCall] = createSignal(part('task', doing('a.rs')));
    const { container } = show(() => <ToolCard part={call()} />);
    const list = container.querySelector('.task-steps') as HTMLElement;
    Object.defineProperties(list, { scrollHeight: { value: 900 }, clientHeight: { value: 220 } });
    return { list, go: (...titles: string[]) => setCall(part('task', doing(...titles))) };
  }

  test('keeps the lines of its steps', () => {
    const { list, go } = started();
    const first = list.firstChild;
    go('a.rs', 'b.rs');
    expect(texts(list, 'code')).toEqual(['a.rs', 'b.rs']);
    expect(list.firstChild).toBe(first);
  });

  test('keeps the newest step in sight, unless the reader has gone elsewhere', () => {
    const { list, go } = started();
    go('a.rs', 'b.rs');
    expect(list.scrollTop).toBe(900);
    list.scrollTop = 100;
    fireEvent.scroll(list);
    go('a.rs', 'b.rs', 'c.rs');
    expect(list.scrollTop).toBe(100);
  });
});
