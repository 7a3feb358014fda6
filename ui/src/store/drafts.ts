/**
 * Drafts, by place: a session, an edited prompt, or the empty page of a project. The host stores every
 * change, so that drafts survive a crash.
 */
import { createSignal } from 'solid-js';
import type { Host } from '../host/host';
import type { Draft as Kept, DraftAttachment, DraftSymbol } from '../protocol';

export interface Draft {
  readonly text: string;
  readonly attachments: readonly DraftAttachment[];
  /** Symbols mentioned in the text. Those whose name is no longer in it are not sent. */
  readonly symbols: readonly DraftSymbol[];
}

export const NO_DRAFT: Draft = { text: '', attachments: [], symbols: [] };

export interface Drafts {
  get(place: string): Draft;
  change(place: string, change: Partial<Draft>): void;
  /** Empties a place on screen while its draft is being sent. It stays stored until it is accepted. */
  take(place: string): void;
  /** Removes what is stored of a draft that was accepted, unless there is a newer one. */
  accepted(place: string): void;
  /** Loads the drafts of the last run. */
  load(): Promise<void>;
}

export function createDrafts(host: Pick<Host, 'drafts' | 'keepDraft'>): Drafts {
  const [drafts, setDrafts] = createSignal<Readonly<Record<string, Draft>>>({});
  return {
    get: (place) => drafts()[place] ?? NO_DRAFT,
    change(place, change) {
      const { [place]: old, ...others } = drafts();
      const next = { ...(old ?? NO_DRAFT), ...change };
      const empty = isEmpty(next);
      if (empty && !old) return;
      setDrafts(empty ? others : { ...others, [place]: next });
      // If storing fails, the draft is still on screen.
      void host.keepDraft(place, empty ? null : kept(next)).catch(() => {});
    },
    take(place) {
      const { [place]: _taken, ...others } = drafts();
      setDrafts(others);
    },
    accepted(place) {
      if (!(place in drafts())) void host.keepDraft(place, null).catch(() => {});
    },
    async load() {
      const found = await host.drafts();
      // What was typed in the meantime is newer.
      setDrafts((now) => ({ ...found, ...now }));
    },
  };
}

function isEmpty({ text, attachments }: Draft): boolean {
  return text === '' && attachments.length === 0;
}

function kept({ text, attachments, symbols }: Draft): Kept {
  return { text, attachments: [...attachments], symbols: [...symbols] };
}
