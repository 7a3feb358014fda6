/** Tries again what failed, with growing pauses, until it works or is no longer wanted. */
interface Retry {
  /** Called after a failure: runs the work again after a pause that grows with every failure. */
  later(key: string, work: () => void): void;
  /** It worked, or is no longer wanted. */
  done(key: string): void;
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

export function createRetry(): Retry {
  const failures = new Map<string, { count: number; timer: ReturnType<typeof setTimeout> }>();
  const done = (key: string) => {
    clearTimeout(failures.get(key)?.timer);
    failures.delete(key);
  };
  return {
    later(key, work) {
      const count = failures.get(key)?.count ?? 0;
      clearTimeout(failures.get(key)?.timer);
      const timer = setTimeout(work, Math.min(LONGEST_MS, FIRST_MS * 2 ** count));
      failures.set(key, { count: count + 1, timer });
    },
    done,
  };
}
