/**
 * The window's state and everything a person can do with it.
 *
 * Puts the slices of the state together with the actions that work on them. Components read the
 * slices and call the actions. Must not know the DOM or Tauri.
 */
import { batch, createEffect, createMemo, createSignal, on, untrack, type Accessor } from 'solid-js';
import { uiError, type Host } from '../host/host';
import { en } from '../i18n/en';
import { visible } from '../text/visible';
import { createExpanded, type Expanded } from './expanded';
import type { Project, RevertOutcome, ReviewSettings, Session, Settings, Theme, UiBatch, UiError, UiUpdate } from '../protocol';
import type { Activity } from './activity';
import { createAgents, type Agents } from './agents';
import { createAttachments, type Attachments } from './attachments';
import { createGit, type Git } from './git';
import { createFinder, type Finder } from './find';
import { createFolders, type Folders } from './folders';
import { createDrafts, type Drafts } from './drafts';
import { createEditing, placeOf, type Editing } from './editing';
import { createMode, type Mode } from './mode';
import { createModels, type Models } from './models';
import { projectOf } from './projects';
import { createDark } from './dark';
import { createDiagrams, type Diagrams } from './diagrams';
import { createReverted, type Reverted } from './pending-revert';
import { createPromptSteps, type PromptSteps } from './prompt-steps';
import { createPictures, type Pictures } from './pictures';
import { createReader, type Reader } from './reader';
import { createRetry } from './retry';
import { createReview, type Review } from './review';
import { createSending, type Sending } from './sending';
import { createSessionActions, type SessionActions } from './session-actions';
import type { Sessions } from './sessions';
import { createSettings } from './settings';
import { createState, isWarning, type State } from './state';
import { createEnvironment, type Environment } from './environment';
import type { Timeline } from './timeline';
import { writtenTitle } from './titles';
import { createToasts, type Toasts } from './toasts';
import { createTypedAnswers, type TypedAnswers } from './typed-answers';
import { createTransfer, type Transfer } from './transfer';

type Phase =
  { readonly name: 'starting' } | { readonly name: 'ready' } | { readonly name: 'failed'; readonly error: UiError };

/** The dialog or picture over the window; one at a time. */
export type Overlay =
  | { readonly name: 'models' }
  | { readonly name: 'lightbox'; readonly sessionID: string; readonly partID: string }
  | { readonly name: 'lightbox'; readonly alone: { readonly url: string; readonly name: string } }
  | { readonly name: 'palette' }
  | { readonly name: 'share'; readonly sessionID: string }
  | { readonly name: 'snapshot' }
  | { readonly name: 'reverted'; readonly sessionID: string; readonly left?: RevertOutcome }
  | { readonly name: 'full-access' }
  | { readonly name: 'make-final'; readonly message: string; readonly answer: (yes: boolean) => void }
  | { readonly name: 'settings'; readonly section: SettingsSection; readonly providerID?: string };
export type SettingsSection =
  'providers' | 'permissions' | 'agents' | 'mcp' | 'appearance' | 'tools' | 'data' | 'shortcuts';

export interface App extends Omit<SessionActions, 'send' | 'run' | 'shell'>, Sending {
  readonly host: Host;
  readonly sessions: Sessions;
  readonly activity: Activity;
  readonly timeline: Timeline;
  readonly phase: Accessor<Phase>;
  /** Every field is a signal. */
  readonly settings: Readonly<Settings>;
  /** Why nothing can be saved at the moment. */
  readonly storeProblem: Accessor<string | null>;
  readonly version: Accessor<string>;
  readonly toasts: Toasts;
  readonly drafts: Drafts;
  /** Which cards of the session on screen are open. */
  readonly expanded: Expanded;
  readonly reader: Reader;
  readonly models: Models;
  readonly agents: Agents;
  readonly environment: Environment;
  readonly mode: Mode;
  /** What was typed into requests and not sent yet. */
  readonly typed: TypedAnswers;
  readonly attachments: Attachments;
  readonly pictures: Pictures;
  readonly editing: Editing;
  readonly reverted: Reverted;
  readonly promptSteps: PromptSteps;
  readonly diagrams: Diagrams;
  /** The window is drawn dark, by the setting or by the system. */
  readonly isDark: Accessor<boolean>;
  readonly transfer: Transfer;
  /** The place that the draft belongs to: a session, an edited prompt, or the project's empty page. */
  readonly place: Accessor<string>;
  readonly overlay: Accessor<Overlay | undefined>;
  readonly finder: Finder;
  /** The session whose title is being edited. */
  readonly renaming: Accessor<string | undefined>;
  setRenaming(sessionID: string | undefined): void;
  goToWaiting(): void;
  /** The project in which a new session would begin. */
  readonly project: Accessor<Project | undefined>;
  start(): Promise<void>;
  pickProject(): Promise<void>;
  /** Loads the projects and the sessions again. */
  refresh(): Promise<void>;
  /** Looks for projects and sessions that another process has made, without a word about failures. */
  lookAround(): Promise<void>;
  /** Fetches the sessions of a project, once. */
  listProject(projectID: string): Promise<void>;
  show(overlay: Overlay): void;
  dismiss(name: Overlay['name']): void;
  setTheme(theme: Theme): void;
  save(change: Partial<Settings>): void;
  setSidebar(change: Partial<Pick<Settings, 'sidebarOpen' | 'sidebarWidth'>>): void;
  readonly review: Review;
  readonly git: Git;
  readonly folders: Folders;
  setReview(change: Partial<ReviewSettings>): void;
  /** Opens a file in the person's editor. A path is absolute, or relative to the session's folder. */
  openFile(path: string, line?: number): void;
  /** Runs an operation and shows its error; undefined if it failed. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** What the parts of the store share; not for components. */
export interface Core {
  readonly host: Host;
  readonly state: State;
  readonly toasts: Toasts;
  readonly drafts: Drafts;
  readonly expanded: Expanded;
  readonly reader: Reader;
  readonly project: Accessor<Project | undefined>;
  setProjectID(projectID: string | undefined): void;
  /** Loads the projects again: another process may have added one. */
  findProjects(): Promise<void>;
  /** Asks whether reverted turns may be deleted. */
  confirmFinal(message: string): Promise<boolean>;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export function createApp(host: Host): App {
  const state = createState(globalThis.localStorage);
  const { settings, load: loadSettings, save: saveSettings } = createSettings(host);
  const [phase, setPhase] = createSignal<Phase>({ name: 'starting' });
  const [version, setVersion] = createSignal('');
  const [projectID, setProjectID] = createSignal<string | undefined>();
  const [overlay, setOverlay] = createSignal<Overlay | undefined>();
  const [renaming, setRenaming] = createSignal<string | undefined>();
  const toasts = createToasts();

  const project = createMemo(() => {
    const projects = state.sessions.projects();
    return projects.find((known) => known.id === projectID()) ?? projects[0];
  });
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (reason) {
      toasts.show({ tone: 'error', text: uiError(reason).message });
      return undefined;
    }
  };
  /** Whatever closes or replaces a question leaves things as they are. */
  const show = (next: Overlay | undefined) => {
    const now = untrack(overlay);
    if (now?.name === 'make-final') now.answer(false);
    setOverlay(next);
  };
  const core: Core = {
    host,
    state,
    toasts,
    drafts: createDrafts(host),
    expanded: createExpanded(),
    reader: createReader(),
    project,
    setProjectID,
    confirmFinal: (message) => new Promise<boolean>((answer) => show({ name: 'make-final', message, answer })),
    async findProjects() {
      const found = await host.listProjects().catch(() => undefined);
      if (found) state.sessions.setProjects(found);
    },
    attempt,
  };
  const sessions = createSessionActions(core);
  const finder = createFinder(core, sessions);
  const save = (change: Partial<Settings>) => void attempt(() => saveSettings(change));
  const review = createReview({
    host,
    toasts,
    selected: sessions.selected,
    session: sessions.session,
    opened: state.timeline.open,
    busy: sessions.busy,
    storage: globalThis.localStorage,
    confirmFinal: core.confirmFinal,
    settleRestored: (left) => setOverlay({ name: 'reverted', sessionID: left.session.id, left }),
    attempt,
  });
  const git = createGit({
    host,
    toasts,
    sessionID: sessions.selected,
    scope: review.scope,
    moment: () => [sessions.busy(), review.files.found()],
    attempt,
  });
  const folders = createFolders({ host, moment: git.status });
  const reverted = createReverted(host, sessions.session);
  const editing = createEditing({ core, selected: sessions.selected, review, toLatest: sessions.toLatest });
  const place = createMemo(() => {
    const edit = editing.current();
    return edit ? placeOf(edit) : (sessions.selected() ?? `new:${project()?.id ?? ''}`);
  });
  const environment = createEnvironment({ core, onTrust: () => void models.refresh() });
  const mode = createMode({ core, warn: () => show({ name: 'full-access' }), settings, save });
  const agents = createAgents({ core, place, all: environment.agents });
  const models = createModels({ core, settings, save, selected: sessions.selected, place, agents });
  const sending = createSending({ core, sessions, agents, models, editing, place });
  const attachments = createAttachments(core, place);

  /** The prompt in the fork's draft keeps its agent. */
  const fork: App['fork'] = async (messageID, worktree) => {
    const asked = state.timeline.open()?.messages.find(({ info }) => info.id === messageID)?.info;
    const made = await sessions.fork(messageID, worktree);
    if (made && asked?.role === 'user' && asked.agent !== undefined) agents.choose(asked.agent, made.id);
    return made;
  };

  /** Another process may have opened a project that is not known here. */
  const isElsewhere = (update: UiUpdate) =>
    update.kind === 'event' &&
    update.event.type === 'session.created' &&
    !projectOf(state.sessions.projects(), update.event.properties.info);
  /** Each turn and each session reads the config files of its project anew. */
  const readsConfig = (update: UiUpdate) => {
    if (update.kind !== 'event') return false;
    const { type, properties } = update.event;
    if (type === 'session.created') return properties.info.projectID === project()?.id;
    if (type !== 'session.status' && type !== 'session.idle') return false;
    return state.sessions.get(properties.sessionID)?.projectID === project()?.id;
  };
  const receive = ({ updates }: UiBatch) => {
    state.apply(updates);
    if (updates.some(isElsewhere)) void core.findProjects();
    if (updates.some(readsConfig)) void environment.refreshProblems();
    for (const update of updates) {
      review.hear(update);
      folders.hear(update);
      // Updates may have been lost before this one: what was listed may be out of date.
      if (update.kind === 'activity') listAgain();
      if (update.kind === 'event' && update.event.type === 'session.error') {
        const { sessionID, error } = update.event.properties;
        if (error?.name === 'MessageAbortedError') continue;
        const detail = error && 'message' in error.data ? String(error.data.message) : undefined;
        if (isWarning(error)) {
          toasts.show({ tone: 'error', text: en.error.noSnapshot, detail });
          continue;
        }
        // The open session shows its errors in the timeline.
        if (sessionID !== undefined && sessionID === state.timeline.open()?.sessionID) continue;
        const known = sessionID === undefined ? undefined : state.sessions.get(sessionID);
        toasts.show({ tone: 'error', text: known ? writtenTitle(known) : en.error.session, detail });
      }
    }
  };

  /** Pending requests: the start and the sidebar both list the current project. */
  const listings = new Map<string, Promise<void>>();
  const listRequests = new Map<string, number>();
  const retry = createRetry();
  const list = async (id: string) => {
    const request = (listRequests.get(id) ?? 0) + 1;
    listRequests.set(id, request);
    const since = state.sessions.version();
    const found = await attempt(() => host.listSessions(id));
    // A later request answers with newer sessions.
    if (listRequests.get(id) !== request) return;
    if (!found) return retry.later(id, () => void list(id));
    retry.done(id);
    listings.delete(id);
    state.sessions.list(id, found, since);
  };
  const listQuietly = async (id: string) => {
    const since = state.sessions.version();
    const found = await host.listSessions(id).catch(() => undefined);
    if (found) state.sessions.list(id, found, since);
  };
  const listAgain = () => {
    const { projects, isListed } = state.sessions;
    for (const { id } of projects()) if (isListed(id)) void list(id);
  };
  const listProject = (id: string): Promise<void> => {
    if (state.sessions.isListed(id)) return Promise.resolve();
    const asked = listings.get(id) ?? list(id);
    listings.set(id, asked);
    return asked;
  };

  const start = async () => {
    setPhase({ name: 'starting' });
    try {
      // Before `start`, so that no event in between is lost.
      await Promise.all([
        host.watch(receive),
        host.onFolderWanted(() => void attempt(arrive)),
        attachments.start(),
        host.onSessionWanted((id) => void sessions.select(id)),
        attempt(() => core.drafts.load()),
      ]);
      await arrive();
      void models.load();
    } catch (reason) {
      setPhase({ name: 'failed', error: uiError(reason) });
    }
  };

  /** Opens the project and the session that the core names. */
  const arrive = async () => {
    const begun = await host.start();
    const { recent } = begun;
    const place = recent.projectID ?? begun.projects[0]?.id;
    batch(() => {
      state.sessions.setProjects(begun.projects);
      loadSettings(begun.settings);
      setVersion(begun.version);
      setProjectID(place);
      setPhase({ name: 'ready' });
      if (recent.sessionID === undefined) sessions.leave();
    });
    if (begun.damagedSettings !== undefined) {
      toasts.show({ tone: 'error', text: en.settings.damaged, detail: en.settings.damagedKept(visible(begun.damagedSettings)) });
    }
    const here = sessions.selected();
    if (place !== undefined) await listProject(place);
    const last = recent.sessionID;
    // Unless the person has gone elsewhere in the meantime.
    const stayed = sessions.selected() === here;
    if (stayed && last !== undefined && state.sessions.get(last)) await sessions.select(last);
  };

  const refresh = async () => {
    const begun = await attempt(() => host.start());
    if (!begun) return;
    listings.clear();
    batch(() => {
      state.sessions.setProjects(begun.projects);
      state.sessions.unlist();
    });
    const place = project()?.id;
    if (place !== undefined) await listProject(place);
  };
  const transfer = createTransfer({ core, select: sessions.select, refresh });

  // Remembers the place for the next start.
  createEffect(
    on(
      () => [project()?.id, sessions.selected()] as const,
      ([place, session]) => {
        if (phase().name === 'ready') void attempt(() => host.remember(place ?? null, session ?? null));
      },
      { defer: true },
    ),
  );

  return {
    ...sessions,
    ...sending,
    host,
    sessions: state.sessions,
    activity: state.activity,
    timeline: state.timeline,
    storeProblem: state.storeProblem,
    phase,
    settings,
    version,
    toasts,
    drafts: core.drafts,
    expanded: core.expanded,
    reader: core.reader,
    models,
    agents,
    environment,
    mode,
    typed: createTypedAnswers(state.activity),
    attachments,
    pictures: createPictures(host),
    diagrams: createDiagrams(host),
    isDark: createDark(() => settings.theme),
    editing,
    reverted,
    promptSteps: createPromptSteps({ timeline: state.timeline, sessions, visible: reverted.visible }),
    transfer,
    place,
    review,
    git,
    folders,
    overlay,
    finder,
    renaming,
    setRenaming,
    project,
    attempt,
    start,
    refresh,
    async lookAround() {
      if (phase().name !== 'ready') return;
      folders.refresh();
      await core.findProjects();
      const { projects, isListed } = state.sessions;
      await Promise.all(projects().filter(({ id }) => isListed(id)).map(({ id }) => listQuietly(id)));
    },
    listProject,
    async pickProject() {
      const opened = await attempt(() => host.pickProject());
      if (!opened) return;
      batch(() => {
        state.sessions.openProject(opened);
        setProjectID(opened.project.id);
      });
      const latest = newest(opened.sessions);
      if (latest) await sessions.select(latest.id);
      else sessions.leave();
    },
    fork,
    show,
    dismiss(name) {
      const now = untrack(overlay);
      if (now?.name !== name) return;
      show(undefined);
    },
    setTheme: (theme) => save({ theme }),
    save,
    goToWaiting() {
      const list = state.activity.waiting();
      const next = list[(list.indexOf(sessions.selected() ?? '') + 1) % list.length];
      if (next !== undefined) void sessions.select(next);
    },
    setSidebar: save,
    setReview: (change) => save({ review: { ...settings.review, ...change } }),
    openFile(path, line) {
      const id = sessions.selected();
      if (id !== undefined) void attempt(() => host.openInEditor(id, path, line ?? null));
    },
  };
}

function newest(sessions: readonly Session[]): Session | undefined {
  return sessions
    .filter((session) => session.time.archived === undefined && session.parentID === undefined)
    .sort((a, b) => b.time.updated - a.time.updated)[0];
}
