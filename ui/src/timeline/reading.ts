/** Which prompt the person reads: the last one that begins above the middle of the timeline. */
import type { Reading } from '../store/prompt-steps';
import type { Row } from '../store/turns';

/** A prompt that was just gone to stands about here. */
const NEAR = 60;

/** The message in the middle of the timeline. */
export function messageIn(scroller: HTMLElement): string | undefined {
  const area = scroller.getBoundingClientRect();
  const middle = area.top + area.height / 2;
  const drawn = [...scroller.querySelectorAll<HTMLElement>('[data-message-id]')];
  return drawn.findLast((one) => one.getBoundingClientRect().top <= middle)?.dataset.messageId;
}

export function readingIn(scroller: HTMLElement, rows: readonly Row[]): Reading | undefined {
  const area = scroller.getBoundingClientRect();
  const middle = area.top + area.height / 2;
  const drawn = [...scroller.querySelectorAll<HTMLElement>('.user-message[data-message-id]')];
  const placed = drawn.map((prompt) => ({ messageID: prompt.dataset.messageId ?? '', box: prompt.getBoundingClientRect() }));
  const last = placed.findLast(({ box }) => box.top <= middle + NEAR);
  if (last) return { messageID: last.messageID, above: last.box.bottom < middle - NEAR - last.box.height };
  // The prompt of a long turn may be too far above to be drawn.
  const turn = scroller.querySelector<HTMLElement>('.session-turn')?.dataset.turnId;
  const user = rows.find((row) => row.turnID === turn)?.user;
  return user && { messageID: user.info.id, above: true };
}
