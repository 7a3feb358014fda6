/**
 * What was written and not sent, per session: the text, what is attached, which symbols it names.
 *
 * Kept in the webview's own storage, so that a draft outlives a restart; a full or missing
 * storage only means that it does not.
 */
import { createSignal } from 'solid-js';
import type { AttachmentView, FilePartSource, Mention } from '../protocol';

const KEY = 'lathe.drafts';
const AT_MOST = 100;

/** As much of a mention as names the place of a symbol. */
export type SymbolMention = Omit<Extract<Mention, { kind: 'symbol' }>, 'symbolKind'>;

/** Something beside the prompt: what the host has staged, or what a tool server will be asked for. */
export interface Attachment extends AttachmentView {
  readonly resource?: { readonly server: string; readonly uri: string };
  /** Of one that was sent before: where it came from, and which words named it. */
  readonly source?: FilePartSource;
}

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Symbols picked for this text; those whose name is no longer in it are not sent. */
  readonly symbols: readonly SymbolMention[];
}

export const NO_DRAFT: Draft = { text: '', attachments: [], symbols: [] };

export interface Drafts {
  get(place: string): Draft;
  change(place: string, change: Partial<Draft>): void;
}

type Kept = Pick<Storage, 'getItem' | 'setItem'>;

export function createDrafts(storage: Kept | undefined): Drafts {
  const [drafts, setDrafts] = createSignal<Readonly<Record<string, Draft>>>(load(storage));
  return {
    get: (place) => drafts()[place] ?? NO_DRAFT,
    change(place, change) {
      const { [place]: old, ...others } = drafts();
      const next = { ...(old ?? NO_DRAFT), ...change };
      const all = isEmpty(next)
        ? others
        : Object.fromEntries([...Object.entries(others), [place, next] as const].slice(-AT_MOST));
      setDrafts(all);
      save(storage, all);
    },
  };
}

function isEmpty({ text, attachments }: Draft): boolean {
  return text === '' && attachments.length === 0;
}

function load(storage: Pick<Storage, 'getItem'> | undefined): Record<string, Draft> {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(KEY) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return {};
    return Object.fromEntries(
      Object.entries(stored).flatMap(([place, draft]) => {
        const read = readDraft(draft);
        return read ? [[place, read]] : [];
      }),
    );
  } catch {
    return {};
  }
}

/** Earlier versions kept the text alone. */
function readDraft(stored: unknown): Draft | undefined {
  if (typeof stored === 'string') return { ...NO_DRAFT, text: stored };
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { text, attachments, symbols } = stored as Partial<Draft>;
  return {
    text: typeof text === 'string' ? text : '',
    attachments: Array.isArray(attachments) ? attachments : [],
    symbols: Array.isArray(symbols) ? symbols : [],
  };
}

function save(storage: Pick<Storage, 'setItem'> | undefined, drafts: Readonly<Record<string, Draft>>): void {
  try {
    storage?.setItem(KEY, JSON.stringify(drafts));
  } catch {
    // Nothing to do: the draft is still on screen.
  }
}
