/**
 * What a person has opened or closed: cards, folds. Kept outside of what draws them, because a
 * long timeline takes down whatever is scrolled away and draws it anew.
 */
import { createContext, createSignal, useContext, type Accessor } from 'solid-js';

export interface Opened {
  /** Undefined where nobody has decided. */
  of(key: string): boolean | undefined;
  choose(key: string, open: boolean): void;
  /** For another session. */
  clear(): void;
}

export function createOpened(): Opened {
  const [chosen, setChosen] = createSignal<ReadonlyMap<string, boolean>>(new Map());
  return {
    of: (key) => chosen().get(key),
    choose: (key, open) => setChosen((now) => (now.get(key) === open ? now : new Map(now).set(key, open))),
    clear: () => setChosen((now) => (now.size === 0 ? now : new Map())),
  };
}

const OpenedContext = createContext<Opened>();

export const OpenedProvider = OpenedContext.Provider;

export interface OpenState {
  readonly open: Accessor<boolean>;
  toggle(): void;
}

/** `standing` holds until somebody decides. Without a key nothing is remembered. */
export function createOpenState(key: () => string | undefined, standing: () => boolean | undefined): OpenState {
  const own = createOpened();
  const kept = useContext(OpenedContext) ?? own;
  const place = () => {
    const name = key();
    return name === undefined ? { opened: own, name: '' } : { opened: kept, name };
  };
  const open = () => place().opened.of(place().name) ?? standing() ?? false;
  return { open, toggle: () => place().opened.choose(place().name, !open()) };
}
