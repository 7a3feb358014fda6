/**
 * The revert that the next prompt makes final: which messages it hides, whether they are loaded or not.
 * One slice of the state. Must not know the DOM.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { Host } from '../host/host';
import type { MessageView, PendingRevert, Session } from '../protocol';

export interface Reverted {
  /** The messages that the revert does not hide. */
  visible(messages: readonly MessageView[]): readonly MessageView[];
  /** The files that the revert left as they are, until the person decides. */
  readonly left: Accessor<readonly string[]>;
}

export function createReverted(host: Pick<Host, 'pendingRevert'>, session: Accessor<Session | undefined>): Reverted {
  const [found, setFound] = createSignal<PendingRevert | undefined>();
  const revert = createMemo(() => session()?.revert);
  // The core knows where it begins, also if that message is not loaded.
  createEffect(
    on(
      // Each revert stores the state anew, also one that only settles files.
      () => [session()?.id, revert()?.messageID, revert()] as const,
      async ([sessionID, messageID], before) => {
        if (before?.[0] !== sessionID || before?.[1] !== messageID) setFound(undefined);
        if (sessionID === undefined || messageID === undefined) return;
        const pending = await host.pendingRevert(sessionID).catch(() => null);
        if (pending?.messageID === messageID && session()?.id === sessionID) setFound(pending);
      },
    ),
  );
  return {
    visible: (messages) => beforeRevert(messages, revert(), found()?.created),
    left: () => found()?.left ?? [],
  };
}

/** The messages before a pending revert. The others exist until the next prompt. */
function beforeRevert(
  messages: readonly MessageView[],
  revert: Session['revert'],
  created: number | undefined,
): readonly MessageView[] {
  if (!revert) return messages;
  const at = messages.findIndex(({ info }) => info.id === revert.messageID);
  if (at === -1) return created === undefined ? messages : messages.filter(({ info }) => info.time.created < created);
  const cut = messages[at];
  const part = cut?.parts.findIndex((view) => view.part.id === revert.partID) ?? -1;
  const before = messages.slice(0, at);
  return cut && part > 0 ? [...before, { ...cut, parts: cut.parts.slice(0, part) }] : before;
}
