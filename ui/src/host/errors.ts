/** Errors of the page go to the log of the program. */
import type { Host } from './host';

/** A page that fails again and again must not fill the log. */
const MOST_ERRORS = 50;
/** Not an error: the browser tells observers of sizes the rest with the next frame. */
const DELAYED = /^ResizeObserver loop /;

/** Logs the errors that nothing in the page expected. Returns how to log one more. */
export function errorLog({ reportError }: Pick<Host, 'reportError'>): (error: unknown) => void {
  let reported = 0;
  const report = (error: unknown) => {
    reported += 1;
    // There is no other place to say that the log cannot be reached.
    if (reported <= MOST_ERRORS) void reportError(describeError(error)).catch(() => {});
  };
  window.addEventListener('error', (event) => {
    if (!DELAYED.test(event.message)) report(event.error ?? event.message);
  });
  window.addEventListener('unhandledrejection', (event) => report(event.reason));
  return report;
}

/** An error of the core has a message and no stack. */
function describeError(error: unknown): string {
  if (error instanceof Error) return `${error.message}\n${error.stack ?? ''}`;
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return String(message);
}
