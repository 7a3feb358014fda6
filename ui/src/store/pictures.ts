/**
 * Remote pictures in Markdown. None is fetched before the person clicks it.
 *
 * Keyed by address, so that a picture is fetched once and stays when its text is rendered again.
 */
import { createSignal } from 'solid-js';
import { uiError, type Host } from '../host/host';
import { en } from '../i18n/en';

export type PictureState =
  | { readonly name: 'unasked' }
  | { readonly name: 'loading' }
  /** `url` is an argument for the host's `pictureURL`. */
  | { readonly name: 'loaded'; readonly url: string }
  | { readonly name: 'failed'; readonly why: string };

export interface Pictures {
  stateOf(address: string): PictureState;
  load(address: string): Promise<void>;
  /** The fetched data is not a picture, or no longer exists. */
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
