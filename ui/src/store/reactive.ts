/**
 * Signals for a part of an object, so that a reader depends on no more than what it reads.
 *
 * Values are compared by identity and never changed in place. Solid's own stores would wrap every
 * nested object of a message in a proxy and merge new data into the old.
 */
import { batch, createSignal, getListener, type Setter, type Signal } from 'solid-js';

/** An object with a signal for each field, and the function that sets some of them. */
export function createFields<T extends object>(initial: T): [fields: Readonly<T>, set: (change: Partial<T>) => void] {
  const fields = {} as T;
  const setters = {} as { [K in keyof T]: Setter<T[K]> };
  for (const name of Object.keys(initial) as (keyof T)[]) {
    const [get, set] = createSignal(initial[name]);
    Object.defineProperty(fields, name, { get, enumerable: true });
    setters[name] = set;
  }
  const set = (change: Partial<T>) =>
    batch(() => {
      for (const name of Object.keys(change) as (keyof T)[]) setters[name](() => change[name] as T[keyof T]);
    });
  return [fields, set];
}

/** A map with a signal for each entry that is read, and one for the map as a whole. */
interface KeyedSignals<T> {
  /** Depends on this entry alone, whether it is there or not. */
  get(key: string): T | undefined;
  /** Both depend on every entry. */
  values(): readonly T[];
  entries(): readonly (readonly [string, T])[];
  set(key: string, value: T): void;
  delete(key: string): void;
  /** Makes these the only entries. */
  replace(entries: Iterable<readonly [string, T]>): void;
}

export function createKeyedSignals<T>(): KeyedSignals<T> {
  const entries = new Map<string, T>();
  const read = new Map<string, Signal<T | undefined>>();
  const [whole, changed] = createSignal(undefined, { equals: false });

  const publish = (key: string) => {
    read.get(key)?.[1](() => entries.get(key));
    changed();
  };
  const set = (key: string, value: T) => {
    if (entries.get(key) === value) return;
    entries.set(key, value);
    batch(() => publish(key));
  };
  const remove = (key: string) => {
    if (entries.delete(key)) batch(() => publish(key));
  };
  return {
    get(key) {
      if (!getListener()) return entries.get(key);
      let signal = read.get(key);
      if (!signal) {
        signal = createSignal(entries.get(key));
        read.set(key, signal);
      }
      return signal[0]();
    },
    values() {
      whole();
      return [...entries.values()];
    },
    entries() {
      whole();
      return [...entries];
    },
    set,
    delete: remove,
    replace(next) {
      batch(() => {
        const kept = new Map(next);
        for (const key of [...entries.keys()]) if (!kept.has(key)) remove(key);
        for (const [key, value] of kept) set(key, value);
      });
    },
  };
}
