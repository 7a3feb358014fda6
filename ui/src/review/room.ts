/** Whether timeline and review have room beside each other, or one covers the other. */
import type { Accessor } from 'solid-js';
import { createNarrow } from '../kit/narrow';
import type { App } from '../store/app';

/** Text is read in the timeline: it never gets narrower than this. Matches frame.css. */
export const LEAST_TIMELINE = 400;
/** Matches review.css. */
export const LEAST_REVIEW = 320;

/** The width of the sidebar, if it is beside the timeline. */
export function createSide(app: Pick<App, 'settings'>): Accessor<number> {
  const narrow = createNarrow();
  return () => (narrow() || !app.settings.sidebarOpen ? 0 : app.settings.sidebarWidth);
}

export function createTight(app: Pick<App, 'settings'>): Accessor<boolean> {
  const side = createSide(app);
  return createNarrow(() => `(max-width: ${side() + LEAST_TIMELINE + LEAST_REVIEW - 1}px)`);
}
