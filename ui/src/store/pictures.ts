/**
 * Pictures of the web that a text names. Nothing is fetched before somebody asks for it.
 *
 * Known by their address, so that a picture stays when its text is drawn again, and is fetched
 * once wherever it is named.
 */
import { createSignal } from 'solid-js';
import { uiError, type Host } from '../host/host';
import { en } from '../i18n/en';

export type PictureState =
  | { readonly name: 'unasked' }
  | { readonly name: 'loading' }
  /** `url` is what the host's `pictureURL` takes. */
  | { readonly name: 'loaded'; readonly url: string }
  | { readonly name: 'failed'; readonly why: string };

export interface Pictures {
  stateOf(address: string): PictureState;
  load(address: string): Promise<void>;
  /** What was fetched cannot be drawn, or is no longer there. */
  broke(address: string): void;
}

const UNASKED: PictureState = { name: 'unasked' };

export function createPictures(host: Pick<Host, 'loadRemoteImage'>): Pictures {
  const [known, setKnown] = createSignal<Readonly<Record<string, PictureState>>>({});
  const put = (address: string, state: PictureState) => setKnown((all) => ({ ...all, [address]: state }));
  const stateOf = (address: string) => known()[address] ?? UNASKED;
  return {
    stateOf,
    async load(address) {
      if (stateOf(address).name === 'loading') return;
      put(address, { name: 'loading' });
      try {
        put(address, { name: 'loaded', url: await host.loadRemoteImage(address) });
      } catch (reason) {
        put(address, { name: 'failed', why: uiError(reason).message });
      }
    },
    broke: (address) => put(address, { name: 'failed', why: en.lightbox.broken }),
  };
}
