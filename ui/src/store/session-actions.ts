/** Actions on sessions: select, create, rename, archive, delete, prompt, stop. */
import { batch, createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import { uiError } from '../host/host';
import { withConsent } from './consent';
import { en } from '../i18n/en';
import { visible } from '../text/visible';
import type {
  MessageView,
  PermissionRequest,
  PromptInput,
  QuestionRequest,
  Session,
  SessionStatus,
  UiError,
} from '../protocol';
import type { Core } from './app';
import type { Draft } from './drafts';
import { draftOf, isStoredFile, joinDrafts } from './prompts';
import { listOf, projectOf, rootOf } from './projects';
import { createRetry } from './retry';
import type { OpenSession } from './timeline';
import { writtenTitle } from './titles';
import { NO_DRAFT } from './drafts';
import { withParents } from './tasks';
import { wholeMessage } from './whole-text';

export interface SessionActions {
  /** The session on screen, or being opened. */
  readonly selected: Accessor<string | undefined>;
  readonly session: Accessor<Session | undefined>;
  readonly status: Accessor<SessionStatus>;
  readonly busy: Accessor<boolean>;
  /** The waiting requests of this session and its tasks. */
  readonly requests: Accessor<Requests>;
  /** Why the selected session could not be opened. */
  readonly openError: Accessor<UiError | undefined>;
  /** A place in the open session to scroll to. */
  readonly target: Accessor<Target | undefined>;
  /** Incremented with every prompt that was sent here, to scroll to it. */
  readonly sent: Accessor<number>;
  /** With a place, the session opens at it. */
  select(sessionID: string, place?: Place): Promise<void>;
  /** Scrolls to a place of the open session, also if it is not loaded. */
  reveal(place: Place): Promise<void>;
  /** Goes to the newest messages of a session that was opened at an older place. */
  toLatest(): Promise<void>;
  loadNewer(): Promise<void>;
  /** To the next (1) or previous (-1) session of the project. */
  step(by: 1 | -1): void;
  /** To the empty page of the project. */
  leave(): void;
  create(projectID?: string): Promise<Session | undefined>;
  /** In a git worktree of its own. */
  createApart(): Promise<Session | undefined>;
  rename(sessionID: string, title: string): Promise<void>;
  archive(sessionID: string, archived: boolean): Promise<void>;
  remove(sessionID: string): Promise<void>;
  /** Sends to this session, or to a new one. True if it was accepted. */
  send(input: PromptInput, to: string | undefined): Promise<boolean>;
  run(name: string, args: string, input: PromptInput, to: string | undefined): Promise<boolean>;
  /** Runs a command of the person; the text of the input is the command. */
  shell(input: PromptInput, to: string | undefined): Promise<boolean>;
  /** Sends a prompt that waited for a turn which ended without it. */
  sendUnsent(messageID: string): Promise<void>;
  stop(): Promise<void>;
  /** Compacts the session now. */
  compact(): Promise<void>;
  /**
   * Forks the session before a prompt, which becomes the draft of the fork, or at the end.
   * `worktree`: with its own copy of the files.
   */
  fork(messageID: string | null, worktree: boolean): Promise<Session | undefined>;
  /** Takes a named snapshot of the files; false if that failed. */
  keepSnapshot(name: string): Promise<boolean>;
  loadOlder(): Promise<void>;
}

interface Place {
  readonly messageID: string;
  readonly partID?: string;
  /** The index among the matches in the part. */
  readonly nth?: number;
}

export interface Target extends Place {
  readonly sessionID: string;
}

export interface Requests {
  readonly permissions: readonly PermissionRequest[];
  readonly questions: readonly QuestionRequest[];
}

/** Enough for a tall window; more is loaded on scroll. */
const TAIL = 30;
const PAGE = 30;
const IDLE: SessionStatus = { type: 'idle' };

export function createSessionActions(core: Core): SessionActions {
  const { host, attempt, toasts } = core;
  const { sessions, activity, timeline, ...state } = core.state;
  const [selected, setSelected] = createSignal<string | undefined>();
  const [openError, setOpenError] = createSignal<UiError | undefined>();
  const [target, setTarget] = createSignal<Target | undefined>();
  const [sent, setSent] = createSignal(0);
  /** A session that could not be opened is tried again after a pause. */
  const retry = createRetry();
  const [resting, setResting] = createSignal(false);
  const rest = (sessionID: string) => {
    retry.done(sessionID);
    setResting(false);
  };
  /** Only the newest load may change what is on screen. */
  let loads = 0;
  let loadingOlder = false;
  let loadingNewer = false;

  const session = createMemo(() => {
    const id = selected();
    return id === undefined ? undefined : sessions.get(id);
  });
  const status = createMemo(() => {
    const id = selected();
    return id === undefined ? IDLE : activity.status(id);
  });
  const busy = createMemo(() => status().type !== 'idle');

  const requests = createMemo<Requests>(() => {
    const here = selected();
    const isHere = ({ sessionID }: { sessionID: string }) =>
      here !== undefined && withParents(sessions, sessionID).includes(here);
    return { permissions: activity.permissions().filter(isHere), questions: activity.questions().filter(isHere) };
  });

  /** Expands the card that contains the place. */
  const lead = (sessionID: string, place: Place) => {
    if (place.partID !== undefined) core.expanded.set(place.partID, true);
    setTarget({ sessionID, ...place });
  };

  const load = async (sessionID: string, place?: Place): Promise<void> => {
    const mine = ++loads;
    setOpenError(undefined);
    setTarget(undefined);
    timeline.begin(sessionID);
    try {
      const view = place
        ? await host.openSessionAt(sessionID, place.messageID, TAIL)
        : await host.openSession(sessionID, TAIL);
      if (mine !== loads) return;
      rest(sessionID);
      batch(() => {
        state.show(view);
        toProjectOf(view.session);
        if (place) lead(sessionID, place);
      });
    } catch (reason) {
      if (mine !== loads) return;
      const error = uiError(reason);
      // The place may be gone while its session is there.
      if (place && error.code === 'not-found') return load(sessionID);
      // Before it is known as no longer being opened: a stale one would be opened again at once.
      if (selected() === sessionID && error.code !== 'not-found') {
        setResting(true);
        retry.later(sessionID, () => setResting(false));
      }
      timeline.cancel(sessionID);
      if (selected() !== sessionID) return;
      if (error.code === 'not-found') {
        state.dropSession(sessionID);
        leave();
        toasts.show({ tone: 'error', text: error.message });
      } else {
        setOpenError(error);
      }
    }
  };

  /** A session may be selected before its project is listed, or even known. */
  const toProjectOf = (one: Session) => {
    const home = projectOf(sessions.projects(), one)?.id;
    if (home !== undefined) core.setProjectID(home);
    else void core.findProjects().then(() => selected() === one.id && core.setProjectID(projectOf(sessions.projects(), one)?.id));
  };

  const leave = () => {
    const before = selected();
    loads += 1;
    if (before !== undefined) rest(before);
    batch(() => {
      setSelected(undefined);
      setOpenError(undefined);
      core.expanded.clear();
      timeline.close();
    });
    if (before !== undefined) void attempt(() => host.closeSession(before));
  };

  const select = async (sessionID: string, place?: Place) => {
    const before = selected();
    if (before === sessionID && !openError()) {
      if (place) await reveal(place);
      return;
    }
    const known = sessions.get(sessionID);
    const projectID = known && projectOf(sessions.projects(), known)?.id;
    if (before !== undefined) rest(before);
    batch(() => {
      setSelected(sessionID);
      core.expanded.clear();
      if (projectID !== undefined) core.setProjectID(projectID);
      timeline.close();
    });
    if (before !== undefined && before !== sessionID) void attempt(() => host.closeSession(before));
    await load(sessionID, place);
  };

  const reveal = async (place: Place) => {
    const sessionID = selected();
    if (sessionID === undefined) return;
    const loaded = timeline.open()?.messages.some((message) => message.info.id === place.messageID);
    if (loaded && timeline.opening() === undefined) lead(sessionID, place);
    else await load(sessionID, place);
  };

  // Updates were lost: opens the session again, once, where the person reads.
  const stale = createMemo(() => timeline.open()?.stale === true && timeline.opening() === undefined && !resting());
  createEffect(
    on(stale, (fallen) => {
      const id = selected();
      const messageID = fallen ? core.reader.place() : undefined;
      if (fallen && id !== undefined) void load(id, messageID === undefined ? undefined : { messageID });
    }),
  );

  // The open session was deleted elsewhere.
  createEffect(
    on(session, (now, before) => {
      if (before && !now && selected() === before.id) leave();
    }),
  );

  /** With its own copy of the files, on a branch of its own. */
  const createApart = async () => {
    const projectID = core.project()?.id;
    if (projectID === undefined) return undefined;
    const made = await attempt(() => host.createSessionInWorktree(projectID, null));
    if (!made) return undefined;
    sessions.put(made);
    await select(made.id);
    return made;
  };
  const create = async (projectID = core.project()?.id) => {
    if (projectID === undefined) return undefined;
    const current = session();
    // An empty session is reused.
    const home = current && projectOf(sessions.projects(), current)?.id;
    if (current && home === projectID && timeline.open()?.messages.length === 0 && !busy()) return current;
    // What is typed from now on is for the new session, and not for the one that was on screen.
    const empty = `new:${projectID}`;
    const before = core.drafts.get(empty);
    if (selected() !== undefined) leave();
    core.setProjectID(projectID);
    const made = await attempt(() => host.createSession(projectID));
    if (!made) return undefined;
    sessions.put(made);
    const typed = core.drafts.get(empty);
    if (typed !== before) {
      core.drafts.change(made.id, typed);
      core.drafts.change(empty, NO_DRAFT);
    }
    await select(made.id);
    return made;
  };

  /** For what cannot carry the consent with it. */
  const discarding = async <T>(sessionID: string, consented: boolean, work: () => Promise<T>): Promise<T> => {
    if (consented) await host.discardReverted(sessionID);
    return work();
  };

  const deliver = async (to: string | undefined, work: (id: string, consented: boolean) => Promise<unknown>) => {
    const id = to ?? (await create())?.id;
    if (id === undefined) return false;
    const taken = await attempt(() => withConsent(core.confirmFinal, (consented) => work(id, consented).then(() => true)));
    if (!taken) return false;
    // The prompt is at the end, so the newest messages must be loaded.
    if (selected() === id) {
      if (timeline.open()?.hasNewer) await load(id);
      batch(() => {
        setTarget(undefined);
        setSent((count) => count + 1);
      });
    }
    return true;
  };

  /**
   * Takes the queued prompts back: a stopped turn does not answer them. Those with files that are stored
   * with the prompt stay, as not sent: the files would be removed with it.
   */
  const withdrawQueued = async (open: OpenSession): Promise<Draft | undefined> => {
    const root = rootOf(core.project(), session());
    const queued = open.messages.filter(({ info, parts }) => open.queued.includes(info.id) && !parts.some(isStoredFile));
    // One that a step has just taken up stays where it is.
    const remove = async (message: MessageView) => {
      const draft = draftOf(await wholeMessage(host, message), root);
      await host.removeQueued(open.sessionID, message.info.id);
      return draft;
    };
    const gone = await Promise.all(queued.map((message) => remove(message).then((draft) => [draft], () => [])));
    return gone.flat().reduce<Draft | undefined>((all, one) => (all ? joinDrafts(all, one) : one), undefined);
  };

  const withConsentIn = (input: PromptInput, consented: boolean): PromptInput =>
    consented ? { ...input, discardReverted: true } : input;

  /** The sessions listed together with this one, newest first. */
  const neighbours = (one: Session): Session[] => {
    const home = projectOf(sessions.projects(), one)?.id ?? one.projectID;
    return listOf(sessions.all(), sessions.projects(), home).filter((other) => other.time.archived === undefined);
  };

  /** The session that is selected when this one is removed. */
  const neighbour = (gone: Session): Session | undefined => {
    const shown = neighbours(gone);
    const at = shown.findIndex((one) => one.id === gone.id);
    return at === -1 ? undefined : (shown[at + 1] ?? shown[at - 1]);
  };

  const restore = async (gone: Session, reopen: boolean) => {
    await attempt(async () => {
      await host.restoreSession(gone.id);
      const home = projectOf(sessions.projects(), gone)?.id ?? gone.projectID;
      const list = await host.listSessions(home);
      sessions.list(home, list);
    });
    if (reopen && sessions.get(gone.id)) await select(gone.id);
  };

  return {
    selected,
    session,
    status,
    busy,
    requests,
    openError,
    target,
    sent,
    select,
    reveal,
    leave,
    create,
    createApart,
    async rename(sessionID, title) {
      const known = sessions.get(sessionID);
      const name = title.trim();
      if (!known || name === '' || name === known.title) return;
      sessions.put({ ...known, title: name });
      const done = await attempt(() => host.renameSession(sessionID, name).then(() => true));
      if (!done) sessions.put(known);
    },
    async archive(sessionID, archived) {
      const known = sessions.get(sessionID);
      if (!known) return;
      const next = neighbour(known);
      const done = await attempt(() => host.archiveSession(sessionID, archived).then(() => true));
      if (!done) return;
      const { archived: _before, ...time } = known.time;
      sessions.put({ ...known, time: archived ? { ...time, archived: Date.now() } : time });
      if (!archived) return;
      if (selected() === sessionID) await (next ? select(next.id) : leave());
      toasts.show({
        tone: 'info',
        text: en.session.archivedToast(writtenTitle(known)),
        action: { label: en.session.undo, run: () => void this.archive(sessionID, false) },
      });
    },
    async remove(sessionID) {
      const known = sessions.get(sessionID);
      if (!known) return;
      const next = neighbour(known);
      const shown = selected() === sessionID;
      const done = await attempt(() => host.deleteSession(sessionID).then(() => true));
      if (!done) return;
      if (shown) await (next ? select(next.id) : leave());
      state.dropSession(sessionID);
      toasts.show({
        tone: 'info',
        text: en.session.deleted(writtenTitle(known)),
        action: { label: en.session.undo, run: () => void restore(known, shown) },
      });
    },
    // The core deletes the reverted turns only when it has taken the prompt, which may use files of theirs.
    send: (input, to) => deliver(to, (id, consented) => host.prompt(id, withConsentIn(input, consented))),
    run: (name, args, input, to) =>
      deliver(to, (id, consented) => host.runCommand(id, name, args, withConsentIn(input, consented))),
    shell: (input, to) => deliver(to, (id, consented) => host.runShell(id, withConsentIn(input, consented))),
    async toLatest() {
      const id = selected();
      if (id !== undefined) await load(id);
    },
    step(by) {
      const here = session();
      const project = core.project();
      const list = here ? neighbours(here) : project ? listOf(sessions.all(), sessions.projects(), project.id) : [];
      const at = list.findIndex((one) => one.id === here?.id);
      const next = list[at === -1 ? 0 : at + by];
      if (next) void select(next.id);
    },
    async loadNewer() {
      const open = timeline.open();
      const after = open?.messages.at(-1)?.info.id;
      if (!open?.hasNewer || after === undefined || loadingNewer) return;
      loadingNewer = true;
      timeline.expectNewer(open.sessionID);
      const page = await attempt(() => host.newerMessages(open.sessionID, after, PAGE));
      loadingNewer = false;
      timeline.addNewer(open.sessionID, after, page);
    },
    async sendUnsent(messageID) {
      const id = selected();
      if (id !== undefined) {
        await deliver(id, (_, consented) => discarding(id, consented, () => host.sendUnsent(id, messageID)));
      }
    },
    async stop() {
      const id = selected();
      if (id === undefined || !busy()) return;
      const open = timeline.open();
      const back = open?.sessionID === id && open.queued.length > 0 ? await withdrawQueued(open) : undefined;
      // Before the turn has stopped, which can take a while: until then only this page has them.
      if (back) core.drafts.change(id, joinDrafts(back, core.drafts.get(id)));
      await attempt(() => host.abort(id));
    },
    async compact() {
      const id = selected();
      if (id !== undefined) {
        await attempt(() => withConsent(core.confirmFinal, (consented) => discarding(id, consented, () => host.compact(id))));
      }
    },
    async fork(messageID, worktree) {
      const id = selected();
      if (id === undefined) return undefined;
      const prompt = timeline.open()?.messages.find(({ info }) => info.id === messageID);
      const root = rootOf(core.project(), session());
      const made = await attempt(() => host.fork(id, messageID, worktree));
      if (!made) return undefined;
      sessions.put(made);
      const whole = prompt && (await attempt(() => wholeMessage(host, prompt)));
      if (whole) core.drafts.change(made.id, draftOf(whole, root));
      await select(made.id);
      if (worktree) toasts.show({ tone: 'info', text: en.fork.worksIn, detail: visible(made.directory) });
      return made;
    },
    async keepSnapshot(name) {
      const id = selected();
      if (id === undefined) return false;
      const kept = await attempt(() => host.checkpoint(id, name));
      if (!kept) return false;
      const missing = kept.skipped?.length ?? 0;
      const detail = missing === 0 ? undefined : en.snapshot.skipped(missing);
      toasts.show({ tone: 'info', text: en.snapshot.kept(visible(kept.name ?? name)), detail });
      return true;
    },
    async loadOlder() {
      const open = timeline.open();
      const before = open?.messages[0]?.info.id;
      if (!open?.hasOlder || before === undefined || loadingOlder) return;
      loadingOlder = true;
      const page = await attempt(() => host.olderMessages(open.sessionID, before, PAGE));
      loadingOlder = false;
      if (page) timeline.addOlder(open.sessionID, before, page);
    },
  };
}
