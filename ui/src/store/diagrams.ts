/** Diagrams in the text of answers. Each is drawn once for its source and look. */
import { createSignal, type Accessor } from 'solid-js';
import type { Host } from '../host/host';

export type Diagram =
  | { readonly name: 'drawing' }
  | { readonly name: 'drawn'; readonly url: string }
  | { readonly name: 'failed' };

export interface Diagrams {
  /** Begins to draw it where that has not begun. */
  of(source: string, dark: boolean): Diagram;
}

/** While a source still grows, every letter would be a drawing of its own. */
const PAUSE_MILLIS = 300;
/** Old ones are drawn again if they are looked at again. */
const MOST = 200;

export function createDiagrams(host: Pick<Host, 'drawDiagram'>): Diagrams {
  const known = new Map<string, Accessor<Diagram>>();
  return {
    of(source, dark) {
      const key = `${dark ? 'dark' : 'light'} ${source}`;
      const before = known.get(key);
      if (before) return before();
      const [state, setState] = createSignal<Diagram>({ name: 'drawing' });
      known.set(key, state);
      const oldest = known.keys().next().value;
      if (known.size > MOST && oldest !== undefined) known.delete(oldest);
      setTimeout(() => {
        host.drawDiagram(source, dark).then(
          (svg) => setState({ name: 'drawn', url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }),
          () => setState({ name: 'failed' }),
        );
      }, PAUSE_MILLIS);
      return state();
    },
  };
}
