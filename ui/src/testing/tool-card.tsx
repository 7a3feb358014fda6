/** Cards on a scripted host, for tests. */
import { fireEvent, waitFor } from '@solidjs/testing-library';
import { expect } from 'vitest';
import { createFakeHost } from '../host/fake';
import { createClock } from '../host/fake/ids';
import { assistant } from '../host/fake/parts';
import type { ToolPart, ToolState } from '../protocol';
import { show, type TestWindow } from './window';
import { ToolCard } from '../tools/ToolCard';

type Call = { type: 'tool' } & ToolPart;

export const part = (tool: string, state: ToolState): Call => ({
  type: 'tool',
  id: 'prt_1',
  sessionID: 'ses_a',
  messageID: 'msg_1',
  callID: 'call_1',
  tool,
  state,
});

export interface Drawn extends TestWindow {
  readonly card: HTMLElement;
}

/** Draws a card over a host that has its call. The stored call may be longer than the one of the card. */
export function draw(tool: string, state: ToolState, live?: string, stored = state): Drawn {
  const call = part(tool, state);
  const host = createFakeHost({ pace: 0 });
  const info = { ...assistant('ses_a', 'msg_0', createClock()), id: 'msg_1' };
  // Before it is drawn: a failed command loads its details at once.
  host.messages.set('ses_a', [{ info, parts: [{ part: part(tool, stored) }] }]);
  const window = show(() => <ToolCard part={call} blocks={live === undefined ? undefined : [live]} />, {}, host);
  return { ...window, card: window.container.querySelector('.tool') as HTMLElement };
}

export const unfold = (card: HTMLElement) => fireEvent.click(card.querySelector('.card-head') as Element);

export async function opened(tool: string, state: ToolState, stored = state): Promise<Drawn> {
  const drawn = draw(tool, state, undefined, stored);
  // A failed command is open already.
  if (drawn.card.querySelector('.card-head')?.getAttribute('aria-expanded') === 'false') unfold(drawn.card);
  await waitFor(() => expect(drawn.called('toolDetails')).toHaveLength(1));
  await waitFor(() => expect(drawn.card.querySelector('.card-body > *')).toBeTruthy());
  return drawn;
}

export const done = (
  input: Record<string, unknown>,
  output = 'out',
  metadata: Record<string, unknown> = {},
): ToolState => ({ status: 'completed', input, output, title: '', metadata, time: { start: 0, end: 4100 } });

export const texts = (card: HTMLElement, css: string) => [...card.querySelectorAll(css)].map((one) => one.textContent);
