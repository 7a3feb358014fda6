/**
 * What a person has expanded or collapsed: cards, folds. It lives outside of the components that
 * draw them, because a long timeline removes what is scrolled away and draws it again later.
 */
import { createContext, createSignal, useContext, type Accessor } from 'solid-js';

export interface Expanded {
  /** Undefined where the person has not decided. */
  get(key: string): boolean | undefined;
  set(key: string, expanded: boolean): void;
  /** For another session. */
  clear(): void;
}

export function createExpanded(): Expanded {
  const [chosen, setChosen] = createSignal<ReadonlyMap<string, boolean>>(new Map());
  return {
    get: (key) => chosen().get(key),
    set: (key, expanded) =>
      setChosen((now) => (now.get(key) === expanded ? now : new Map(now).set(key, expanded))),
    clear: () => setChosen((now) => (now.size === 0 ? now : new Map())),
  };
}

const ExpandedContext = createContext<Expanded>();

export const ExpandedProvider = ExpandedContext.Provider;

interface OpenState {
  readonly open: Accessor<boolean>;
  toggle(): void;
}

/** `byDefault` holds until the person decides. Without a key nothing is remembered. */
export function createOpenState(key: () => string | undefined, byDefault: () => boolean | undefined): OpenState {
  const own = createExpanded();
  const shared = useContext(ExpandedContext) ?? own;
  const place = () => {
    const name = key();
    return name === undefined ? { expanded: own, name: '' } : { expanded: shared, name };
  };
  const open = () => place().expanded.get(place().name) ?? byDefault() ?? false;
  return { open, toggle: () => place().expanded.set(place().name, !open()) };
}
