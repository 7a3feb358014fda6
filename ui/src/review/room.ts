/** Whether timeline and review have room beside each other, or one covers the other. */
import type { Accessor } from 'solid-js';
import { createNarrow } from '../kit/narrow';
import type { App } from '../store/app';

/** Text is read in the timeline: it never gets narrower than this. Matches frame.css. */
export const LEAST_TIMELINE = 400;
/** Matches review.css. */
export const LEAST_REVIEW = 320;

export function createTight(app: Pick<App, 'settings'>): Accessor<boolean> {
  const narrow = createNarrow();
  const side = () => (narrow() || !app.settings.sidebarOpen ? 0 : app.settings.sidebarWidth);
  return createNarrow(() => `(max-width: ${side() + LEAST_TIMELINE + LEAST_REVIEW - 1}px)`);
}
