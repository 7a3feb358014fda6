import { fireEvent, screen, waitFor, within } from '@solidjs/testing-library';
import { describe, expect, test, vi } from 'vitest';
import { createClock } from '../host/fake/ids';
import { createWriter } from '../host/fake/parts';
import { changeOfTurn, totalsOfTurn } from '../store/turn-totals';
import type { Answer } from '../store/turns';
import type { MessageView, Part } from '../protocol';
import { openWindow } from '../testing/window';

const write = createWriter('ses_a', createClock());
const usage = { input: 1000, output: 40, reasoning: 0, cache: { read: 500, write: 0 } };
const step = (reason: string) => (id: string) => write.part(id, 'step-finish', { reason, cost: 0.01, tokens: usage });
const patched = (...files: string[]) => (id: string) => write.part(id, 'patch', { hash: 'h', files });
const asked = write.user('Go');
const answer = (created: number, completed: number, ...parts: ((id: string) => MessageView['parts'][number])[]): Answer =>
  write.answer(asked.info.id, { time: { created, completed } }, ...parts) as Answer;

describe('what a turn changed', () => {
  test('is counted by the core, or listed from its steps until then', () => {
    const answers = [answer(0, 1, patched('/p/a.rs')), answer(1, 2, patched('/p/b.rs', '/p/a.rs'))];
    expect(changeOfTurn(asked, answers)).toEqual({ files: ['/p/a.rs', '/p/b.rs'] });
    const diff = { file: 'a.rs', before: '', after: '', additions: 12, deletions: 6 };
    const counted = { ...asked, info: { ...asked.info, summary: { diffs: [diff] } } } as MessageView;
    expect(changeOfTurn(counted, answers)).toEqual({ files: ['a.rs'], lines: { additions: 12, deletions: 6 } });
    expect(changeOfTurn(asked, [answer(0, 1)])).toBeUndefined();
  });
});

describe('what a turn took', () => {
  test('is the sum of its steps, from the first answer to the end of the last', () => {
    const answers = [answer(1000, 2000, step('tool-calls')), answer(2000, 31_000, step('stop'))];
    expect(totalsOfTurn(answers)).toEqual({
      model: { providerID: 'demo', modelID: 'demo' },
      millis: 30_000,
      tokens: { input: 2000, output: 80, reasoning: 0, cache: { read: 1000, write: 0 } },
      cost: 0.02,
    });
    expect(totalsOfTurn([answer(0, 1)])).toBeUndefined();
  });

  test('is without the time in which the person was asked, also where calls waited together', () => {
    const call = (tool: string, start: number, end: number, metadata: Record<string, unknown>) => (id: string) =>
      write.part(id, 'tool', {
        callID: `call_${start}`,
        tool,
        state: { status: 'completed', input: {}, output: '', title: '', metadata, time: { start, end } },
      });
    const waits = (start: number, end: number) => ({ waits: [{ start, end }] });
    const steps = [
      call('bash', 2000, 12_000, waits(2000, 10_000)),
      call('edit', 2000, 12_000, waits(2000, 11_000)),
      // One of an earlier version, which did not note it.
      call('question', 20_000, 25_000, {}),
      step('stop'),
    ];
    expect(totalsOfTurn([answer(1000, 31_000, ...steps)])?.millis).toBe(30_000 - 9000 - 5000);
  });
});

describe('the end of a turn', () => {
  const kinds = (root: ParentNode) => [...root.querySelectorAll<HTMLElement>('[data-part=patch]')];

  test('has one row for the changes, which opens the review at the turn, and the totals below it', async () => {
    const { app, called } = openWindow();
    await waitFor(() => expect(app.timeline.open()).toBeTruthy());
    const turn = (await screen.findAllByTestId('turn-summary'))[0]?.closest('.session-turn') as HTMLElement;
    expect(turn.querySelectorAll('[data-testid=turn-summary]')).toHaveLength(1);
    expect(turn.querySelector('[data-testid=turn-summary]')?.textContent).toBe('2 files changedsrc/schedule.rssrc/lamp.rsReview');
    expect(turn.querySelector('[data-testid=turn-totals]')?.textContent).toBe('demo · 40 s · 36k in · 1.2k out · $0.02');
    // No row of its own for the patch of a step.
    expect(kinds(turn).map((patch) => patch.textContent)).toEqual(['']);
    const writeText = vi.fn(async (_text: string) => {});
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
    fireEvent.click(within(turn).getByRole('button', { name: 'Copy turn' }));
    expect(writeText.mock.calls[0]?.[0]).toMatch(/^> The reading lamp flickers[^]*## Why it flickers/);
    vi.unstubAllGlobals();
    fireEvent.click(turn.querySelector('[data-testid=turn-summary]') as Element);
    await screen.findByTestId('review');
    await waitFor(() => expect(called('reviewFiles').at(-1)?.[1]).toEqual({ kind: 'turn', messageID: turn.dataset.turnId }));
  });

  test('has no totals while the agent works on it', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(app.timeline.open()).toBeTruthy());
    const last = app.timeline.open()?.messages.at(-1);
    const part: Part = { type: 'step-finish', id: 'prt_zz', sessionID: 'ses_gallery', messageID: last?.info.id ?? '', reason: 'stop', cost: 1, tokens: usage };
    const status = (type: 'busy' | 'idle') =>
      host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type } } } });
    const totals = () => [...document.querySelectorAll('.session-turn')].at(-1)?.querySelector('[data-testid=turn-totals]');
    status('busy');
    host.emit({ kind: 'part', part: { part } });
    await waitFor(() => expect(app.busy()).toBe(true));
    expect(totals()).toBeFalsy();
    status('idle');
    await waitFor(() => expect(totals()?.textContent).toContain('$1.00'));
  });

  test('has no totals either while a prompt waits behind it', async () => {
    const { app, host } = openWindow();
    await waitFor(() => expect(app.timeline.open()).toBeTruthy());
    const turn = [...document.querySelectorAll<HTMLElement>('.session-turn')].at(-1)?.dataset.turnId ?? '';
    const waiting = createWriter('ses_gallery', createClock()).user('And then?');
    const info = { ...waiting.info, time: { created: Date.now() + 1e9 } } as typeof waiting.info;
    const status = (type: 'busy' | 'idle') =>
      host.emit({ kind: 'event', event: { type: 'session.status', properties: { sessionID: 'ses_gallery', status: { type } } } });
    const totals = () => document.querySelector(`[data-turn-id="${turn}"] [data-testid=turn-totals]`);
    const messageID = app.timeline.open()?.messages.at(-1)?.info.id ?? '';
    const part: Part = { type: 'step-finish', id: 'prt_zz', sessionID: 'ses_gallery', messageID, reason: 'stop', cost: 1, tokens: usage };
    host.emit({ kind: 'part', part: { part } });
    status('busy');
    host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
    host.emit({ kind: 'queue', sessionID: 'ses_gallery', messages: [info.id] });
    await screen.findByText('Queued');
    expect(totals()).toBeFalsy();
    status('idle');
    await waitFor(() => expect(totals()).toBeTruthy());
  });
});
