/** The branch of a session's folder, and what is done with it: stage, commit, stash, bring back. Must not know the DOM. */
import { createEffect, createMemo, createSignal, on, untrack, type Accessor } from 'solid-js';
import type { Host } from '../host/host';
import { en } from '../i18n/en';
import type { BringBackChoice, BringBackPreview, ComparedWorktree, GitStatus, ReviewScope } from '../protocol';
import type { Toasts } from './toasts';

type How = 'merge' | 'apply';

/** What is asked in the git bar. */
export type GitTask =
  | { readonly kind: 'commit'; readonly amend: boolean }
  | { readonly kind: 'stash' }
  | { readonly kind: 'compare'; readonly found: ComparedWorktree }
  | { readonly kind: 'bringBack'; readonly how: How; readonly preview: BringBackPreview }
  | { readonly kind: 'removeWorktree' };

export interface Git {
  /** Null where there is no git; undefined until it is known. */
  readonly status: Accessor<GitStatus | null | undefined>;
  readonly task: Accessor<GitTask | undefined>;
  readonly message: Accessor<string>;
  setMessage(text: string): void;
  /** What is being done. */
  readonly working: Accessor<string | undefined>;
  refresh(): Promise<void>;
  stageKept(): Promise<void>;
  unstage(): Promise<void>;
  beginCommit(amend: boolean): Promise<void>;
  /** Asks the model for a message. */
  draft(): Promise<void>;
  commit(): Promise<void>;
  beginStash(): void;
  stash(): Promise<void>;
  unstash(): Promise<void>;
  copyPatch(): Promise<string | undefined>;
  savePatch(): Promise<void>;
  /** What the session's worktree has changed against its original. */
  beginCompare(): Promise<void>;
  beginBringBack(how: How): Promise<void>;
  bringBack(choices: Readonly<Record<string, BringBackChoice>>): Promise<void>;
  beginRemove(): void;
  removeWorktree(): Promise<void>;
  cancel(): void;
}

interface GitNeeds {
  readonly host: Pick<
    Host,
    | 'gitStatus'
    | 'stageKept'
    | 'unstageAll'
    | 'draftCommitMessage'
    | 'lastCommitMessage'
    | 'commit'
    | 'stash'
    | 'unstash'
    | 'patchText'
    | 'savePatch'
    | 'worktreeFiles'
    | 'previewBringBack'
    | 'bringBack'
    | 'removeWorktree'
  >;
  readonly toasts: Toasts;
  readonly sessionID: Accessor<string | undefined>;
  readonly scope: Accessor<ReviewScope>;
  /** Changes when files may have changed. */
  readonly moment: Accessor<unknown>;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export function createGit(needs: GitNeeds): Git {
  const { host, toasts, attempt } = needs;
  const [known, setKnown] = createSignal<{ readonly sessionID: string; readonly status: GitStatus | null } | undefined>();
  const [task, setTask] = createSignal<GitTask | undefined>();
  const [message, setMessage] = createSignal('');
  const [working, setWorking] = createSignal<{ readonly sessionID: string; readonly words: string } | undefined>();
  const id = () => untrack(needs.sessionID);
  const put = (sessionID: string, status: GitStatus | null) => needs.sessionID() === sessionID && setKnown({ sessionID, status });

  const refresh = async () => {
    const sessionID = id();
    if (sessionID === undefined) return;
    const status = await host.gitStatus(sessionID).catch(() => undefined);
    if (status !== undefined) put(sessionID, status);
  };
  createEffect(on([needs.sessionID, needs.moment], () => void refresh()));
  createEffect(on(needs.sessionID, () => (setTask(undefined), setMessage('')), { defer: true }));

  const workingHere = () => {
    const now = working();
    return now?.sessionID === needs.sessionID() ? now?.words : undefined;
  };

  /** The answer is dropped if another session is shown by then: it is not about that one. */
  const run = async <T>(words: string, work: (sessionID: string) => Promise<T>): Promise<T | undefined> => {
    const sessionID = id();
    if (sessionID === undefined || untrack(working)?.sessionID === sessionID) return undefined;
    const now = { sessionID, words };
    setWorking(now);
    try {
      const done = await attempt(() => work(sessionID));
      return id() === sessionID ? done : undefined;
    } finally {
      if (untrack(working) === now) setWorking(undefined);
      void refresh();
    }
  };
  const said = (text: string) => toasts.show({ tone: 'info', text });
  /** An action that answers with the new state. */
  const change = async (words: string, work: (sessionID: string) => Promise<GitStatus>) => {
    const sessionID = id();
    const status = await run(words, work);
    if (status && sessionID !== undefined) put(sessionID, status);
    return status;
  };

  return {
    status: createMemo(() => (known()?.sessionID === needs.sessionID() ? known()?.status : undefined)),
    task,
    message,
    setMessage,
    working: workingHere,
    refresh,
    async stageKept() {
      const status = await change(en.git.staging, (sessionID) => host.stageKept(sessionID, untrack(needs.scope)));
      if (status) said(en.git.staged(status.staged));
    },
    async unstage() {
      await change(en.git.staging, (sessionID) => host.unstageAll(sessionID));
    },
    async beginCommit(amend) {
      setTask({ kind: 'commit', amend });
      if (!amend) return;
      const last = await run(en.git.loading, (sessionID) => host.lastCommitMessage(sessionID));
      if (last !== undefined && untrack(message) === '') setMessage(last);
    },
    async draft() {
      const text = await run(en.git.drafting, (sessionID) => host.draftCommitMessage(sessionID));
      if (text !== undefined) setMessage(text);
    },
    async commit() {
      const now = untrack(task);
      if (now?.kind !== 'commit') return;
      const input = { message: untrack(message), amend: now.amend };
      const made = await run(en.git.committing, (sessionID) => host.commit(sessionID, input));
      if (!made) return;
      setTask(undefined);
      setMessage('');
      said(en.git.committed(made.hash.slice(0, 7), made.summary));
    },
    beginStash: () => setTask({ kind: 'stash' }),
    async stash() {
      const status = await change(en.git.stashing, (sessionID) => host.stash(sessionID, untrack(message)));
      if (!status) return;
      setTask(undefined);
      setMessage('');
      said(en.git.stashed);
    },
    async unstash() {
      if (await change(en.git.unstashing, (sessionID) => host.unstash(sessionID))) said(en.git.unstashed);
    },
    copyPatch: () => run(en.git.loading, (sessionID) => host.patchText(sessionID, untrack(needs.scope), false)),
    async savePatch() {
      const path = await run(en.git.loading, (sessionID) => host.savePatch(sessionID, untrack(needs.scope), false));
      if (path) said(en.git.saved(path));
    },
    async beginCompare() {
      const found = await run(en.git.loading, (sessionID) => host.worktreeFiles(sessionID));
      if (found) setTask({ kind: 'compare', found });
    },
    async beginBringBack(how) {
      const preview = await run(en.git.loading, (sessionID) => host.previewBringBack(sessionID, how));
      if (preview) setTask({ kind: 'bringBack', how, preview });
    },
    async bringBack(choices) {
      const now = untrack(task);
      if (now?.kind !== 'bringBack') return;
      const done = await run(en.git.bringing, (sessionID) => host.bringBack(sessionID, now.how, { ...choices }));
      if (!done) {
        // The files may have changed since they were shown.
        const preview = await run(en.git.loading, (sessionID) => host.previewBringBack(sessionID, now.how));
        if (preview && untrack(task) === now) setTask({ ...now, preview });
        return;
      }
      const left = done.files.filter(({ change }) => change === 'conflict');
      setTask(left.length > 0 ? { ...now, preview: { ...done, files: left } } : undefined);
      toasts.show({
        tone: 'info',
        text: en.git.brought(done.files.length - left.length),
        ...(left.length > 0 && { detail: en.git.notBrought(left.length) }),
      });
    },
    beginRemove: () => setTask({ kind: 'removeWorktree' }),
    async removeWorktree() {
      const removed = await run(en.git.removing, (sessionID) => host.removeWorktree(sessionID));
      if (!removed) return;
      setTask(undefined);
      said(removed.saved ? en.git.removedSaved(removed.branch) : en.git.removed(removed.branch));
    },
    cancel: () => setTask(undefined),
  };
}
