/**
 * The revert that the next prompt makes final: which messages it hides, whether they are loaded or not.
 * One slice of the state. Must not know the DOM.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { Host } from '../host/host';
import type { MessageView, PendingRevert, Session } from '../protocol';
import { createRetry } from './retry';

export interface Reverted {
  /** The messages that the revert does not hide. */
  visible(messages: readonly MessageView[]): readonly MessageView[];
  /** Where the revert begins is known; until then what may be hidden is. */
  readonly isKnown: Accessor<boolean>;
  /** The files that the revert left as they are, until the person decides. */
  readonly left: Accessor<readonly string[]>;
}

/** What the core said; null if it knows of no such revert. */
interface Found {
  readonly pending: PendingRevert | null;
}

export function createReverted(host: Pick<Host, 'pendingRevert'>, session: Accessor<Session | undefined>): Reverted {
  const [found, setFound] = createSignal<Found | undefined>();
  const retry = createRetry();
  const revert = createMemo(() => session()?.revert);
  // The core knows where it begins, also if that message is not loaded.
  createEffect(
    on(
      // Each revert stores the state anew, also one that only settles files.
      () => [session()?.id, revert()?.messageID, revert()] as const,
      ([sessionID, messageID], before) => {
        if (before?.[0] !== undefined) retry.done(before[0]);
        if (before?.[0] !== sessionID || before?.[1] !== messageID) setFound(undefined);
        if (sessionID === undefined || messageID === undefined) return;
        const isWanted = () => session()?.id === sessionID && revert()?.messageID === messageID;
        const load = async (): Promise<void> => {
          try {
            const pending = await host.pendingRevert(sessionID);
            if (!isWanted()) return;
            retry.done(sessionID);
            if (!pending || pending.messageID === messageID) setFound({ pending });
          } catch {
            if (isWanted()) retry.later(sessionID, () => void load());
          }
        };
        void load();
      },
    ),
  );
  return {
    visible: (messages) => beforeRevert(messages, revert(), found()),
    isKnown: () => revert() === undefined || found() !== undefined,
    left: () => found()?.pending?.left ?? [],
  };
}

/** The messages before a pending revert. The others exist until the next prompt. */
function beforeRevert(
  messages: readonly MessageView[],
  revert: Session['revert'],
  found: Found | undefined,
): readonly MessageView[] {
  if (!revert) return messages;
  const at = messages.findIndex(({ info }) => info.id === revert.messageID);
  if (at === -1) {
    // What was taken back must not look as if it were not, not even for a moment.
    if (!found) return [];
    const created = found.pending?.created;
    return created === undefined ? messages : messages.filter(({ info }) => info.time.created < created);
  }
  const cut = messages[at];
  const part = cut?.parts.findIndex((view) => view.part.id === revert.partID) ?? -1;
  const before = messages.slice(0, at);
  return cut && part > 0 ? [...before, { ...cut, parts: cut.parts.slice(0, part) }] : before;
}
