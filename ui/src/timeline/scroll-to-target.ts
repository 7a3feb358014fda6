/** Scrolls to a place: first to its row, which may not be in the DOM, then to its part. */
import { createEffect, on, type Accessor } from 'solid-js';
import type { Target } from '../store/session-actions';
import type { Row } from '../store/turns';

interface TargetNeeds {
  readonly target: Accessor<Target | undefined>;
  readonly rows: () => readonly Row[];
  readonly scroller: () => HTMLElement;
  toRow(index: number): void;
  leave(): void;
}

/** The number of frames in which row sizes may still change. */
const PATIENCE = 12;

export function useTarget(needs: TargetNeeds): void {
  let turn = 0;
  createEffect(
    on(needs.target, (target) => {
      if (!target) return;
      const mine = ++turn;
      needs.leave();
      const row = needs.rows().findIndex((one) => holds(one, target.messageID));
      if (row === -1) return;
      let left = PATIENCE;
      let last: number | undefined;
      const settle = () => {
        if (mine !== turn || left-- === 0) return;
        const element = find(needs.scroller(), target);
        if (!element) needs.toRow(row);
        else {
          element.scrollIntoView?.({ block: 'center' });
          const top = element.getBoundingClientRect().top;
          // The position is stable: the rows around it are measured.
          if (last !== undefined && Math.abs(top - last) < 1 && left < PATIENCE - 4) return;
          last = top;
        }
        requestAnimationFrame(settle);
      };
      // After the list has drawn the rows that were loaded with the target.
      requestAnimationFrame(settle);
    }),
  );
}

function holds(row: Row, messageID: string): boolean {
  return row.user?.info.id === messageID || row.answers.some((answer) => answer.info.id === messageID);
}

function find(scroller: HTMLElement, { messageID, partID }: Target): Element | undefined {
  const drawn = [...scroller.querySelectorAll<HTMLElement>('[data-part-id], [data-message-id]')];
  const part = partID === undefined ? undefined : drawn.find((one) => one.dataset.partId === partID);
  return part ?? drawn.find((one) => one.dataset.messageId === messageID);
}
