/** Counts how often components run, and the memos and effects in them. Needs Solid's development build. */
import { DEV, type Owner } from 'solid-js';

interface Computation extends Owner {
  fn?: (value: unknown) => unknown;
  /** Set on the computation that is a component's body. */
  component?: unknown;
  name?: string;
}

export interface Runs {
  /** Runs since the last reset, by the component that they belong to. */
  readonly counts: ReadonlyMap<string, number>;
  reset(): void;
  stop(): void;
}

/** Counts everything at or below a component of that name that is created from now on. */
export function countRunsBelow(component: string): Runs {
  if (!DEV) throw new Error('Solid’s development build is needed');
  const { hooks } = DEV;
  const counts = new Map<string, number>();
  const before = hooks.afterCreateOwner;
  hooks.afterCreateOwner = (owner) => {
    const computation = owner as Computation;
    const { fn } = computation;
    if (!fn) return;
    computation.fn = (value) => {
      const path = componentsAbove(computation);
      const name = path[0];
      if (name !== undefined && path.includes(component)) counts.set(name, (counts.get(name) ?? 0) + 1);
      return fn(value);
    };
  };
  return {
    counts,
    reset: () => counts.clear(),
    stop: () => (hooks.afterCreateOwner = before),
  };
}

/** Names from the inside out, the computation's own first if it is a component. */
function componentsAbove(computation: Computation): string[] {
  const names: string[] = [];
  for (let owner: Computation | null = computation; owner; owner = owner.owner as Computation | null) {
    // The build for development marks the names that it wraps for reloading.
    if (owner.component) names.push(owner.name?.replace('[solid-refresh]', '') ?? '');
  }
  return names;
}
