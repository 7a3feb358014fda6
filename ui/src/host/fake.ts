/**
 * A host without a program behind it: projects, sessions and answers from a script, in memory.
 * For tests and for working on the window in a plain browser.
 */
import type {
  ConfigProblem,
  MessageView,
  ModelRef,
  Recent,
  SandboxView,
  Session,
  Settings,
  ToolState,
  TrustView,
  UiBatch,
  UiError,
  UiUpdate,
} from '../protocol';
import { createFakeActivity } from './fake/activity';
import { answerFrames, TOUR, type Frame } from './fake/answer';
import { createFakeContext, lastUseOf, useOf } from './fake/context';
import { detailsOf } from './fake/details';
import { gallery } from './fake/gallery';
import { createClock } from './fake/ids';
import { createFakeAttachments, type FakeAttachments } from './fake/attachments';
import { createFakeImports } from './fake/imports';
import { createFakeMcp } from './fake/mcp';
import { createFakeModels } from './fake/models';
import { call, createWriter, viewOf } from './fake/parts';
import { createFakeQueue } from './fake/queue';
import { longSession, projects, sampleRequests, sampleSessions } from './fake/samples';
import { createFakeEnvironment } from './fake/environment';
import { createFakeReviewing } from './fake/reviewing';
import { createFakeReview } from './fake/review';
import { createFakeSettingsPages } from './fake/settings-pages';
import { createFakeSearch } from './fake/search';
import { DEFAULTS } from './defaults';
import type { Host } from './host';

export interface FakeHost extends Host {
  /** Sends updates to the window as the core would. */
  emit(...updates: UiUpdate[]): void;
  /** As if these updates had been lost: the window gets the whole state instead. */
  lose(...updates: UiUpdate[]): void;
  readonly sessions: Map<string, Session>;
  readonly messages: Map<string, MessageView[]>;
  readonly settings: () => Settings;
  readonly attachments: FakeAttachments;
  /** As if the program had been started again with that project's folder. */
  startAgain(projectID: string): void;
  /** As if an item of the menu bar had been chosen. */
  chooseMenu(id: string): void;
  clickNotification(sessionID: string): void;
  /** Every call, by name, for tests that ask whether one was made. */
  readonly calls: { readonly name: string; readonly args: readonly unknown[] }[];
}

export interface FakeOptions {
  /** Milliseconds between the frames of an answer. */
  readonly pace?: number;
  readonly settings?: Partial<Settings>;
  /** Begin as on the very first start. */
  readonly empty?: boolean;
  /** A provider has its key, and a local server runs. */
  readonly connected?: boolean;
  /** Whether the projects are trusted; by default there is nothing to trust. */
  readonly trust?: TrustView['state'];
  /** What is wrong in the config files; read again with every request. */
  readonly configProblems?: readonly ConfigProblem[];
  /** What confines commands; by default a sandbox works. */
  readonly sandbox?: SandboxView;
  /** Where the settings are that could not all be read. */
  readonly damagedSettings?: string;
  /** The first start is refused. */
  readonly failStart?: boolean;
}

interface Running {
  frame?: Frame;
  timer?: ReturnType<typeof setTimeout>;
}

export function createFakeHost(options: FakeOptions = {}): FakeHost {
  const clock = createClock();
  const known = options.empty ? [] : [...projects];
  const sessions = new Map<string, Session>();
  const messages = new Map<string, MessageView[]>();
  const deleted = new Map<string, Session>();
  const running = new Map<string, Running>();
  const calls: FakeHost['calls'] = [];
  const activity = createFakeActivity(sessions);
  const attachments = createFakeAttachments(messages);
  const mcp = createFakeMcp(options.empty);
  const models = createFakeModels(options.connected ?? false);
  const imports = createFakeImports();
  let settings: Settings = {
    ...DEFAULTS,
    welcomed: true,
    importOffered: !options.empty,
    ...options.settings,
  };
  let receive: (batch: UiBatch) => void = () => {};
  let wantFolder = () => {};
  let chooseMenu: (id: string) => void = () => {};
  let wantSession: (sessionID: string) => void = () => {};
  let failing = options.failStart ?? false;
  let recent: Recent = options.empty ? {} : { projectID: 'prj_lantern', sessionID: 'ses_gallery' };

  if (!options.empty) {
    for (const session of sampleSessions) sessions.set(session.id, session);
    messages.set('ses_gallery', gallery('ses_gallery', clock));
    messages.set('ses_long', longSession('ses_long', clock));
  }

  const emit = (...updates: UiUpdate[]) => {
    for (const update of updates) keep(update);
    receive({ updates });
  };
  const lose = (...updates: UiUpdate[]) => {
    for (const update of updates) keep(update);
    const resets = [...sessions.keys()].map((sessionID): UiUpdate => ({ kind: 'reset', sessionID }));
    receive({ updates: [...resets, activity.whole()] });
  };
  const told = (session: Session) =>
    emit({ kind: 'event', event: { type: 'session.updated', properties: { info: session } } });
  const find = (id: string): Session => {
    const session = sessions.get(id);
    if (!session) throw { code: 'not-found', message: 'This session is no longer there' } satisfies UiError;
    return session;
  };

  const { waiting, add, take, leave, ...queue } = createFakeQueue(messages, emit, (sessionID) => host.abort(sessionID));

  /** Like the core, stores an update before it sends it. */
  const keep = (update: UiUpdate) => {
    activity.record(update);
    if (update.kind === 'part') {
      const { part } = update.part;
      const parts = messages.get(part.sessionID)?.find((message) => message.info.id === part.messageID)?.parts;
      const at = parts?.findIndex((view) => view.part.id === part.id) ?? -1;
      if (at === -1) parts?.push(update.part);
      else parts?.splice(at, 1, update.part);
    } else if (update.kind === 'event' && update.event.type === 'message.updated') {
      const { info } = update.event.properties;
      const list = messages.get(info.sessionID) ?? [];
      const at = list.findIndex((message) => message.info.id === info.id);
      if (at === -1) list.push({ info, parts: [] });
      else list.splice(at, 1, { ...(list[at] as MessageView), info });
      messages.set(info.sessionID, list);
    }
  };

  const { undoable, ensureConsent, files, guard, ...time } = createFakeReview({ clock, sessions, messages, find, told, emit, isBusy: (id) => running.has(id) });
  const folders = (projectID: string) => [
    ...new Set([...sessions.values()].filter((session) => session.projectID === projectID).map(({ directory }) => directory)),
  ];
  const reviewing = createFakeReviewing({ files, guard, folders, fork: (id, worktree) => time.fork(id, null, worktree) });
  const search = createFakeSearch(sessions, messages, (id) => find(id));

  const status = (sessionID: string, type: 'busy' | 'idle'): UiUpdate => ({
    kind: 'event',
    event: { type: 'session.status', properties: { sessionID, status: { type } } },
  });
  const answer = (sessionID: string, parentID: string, model: ModelRef | undefined, length: number) => {
    const text = Array.from({ length }, () => TOUR).join('\n\n');
    const frames = answerFrames(sessionID, parentID, clock, text, model);
    const turn: Running = {};
    running.set(sessionID, turn);
    emit(status(sessionID, 'busy'));
    const step = () => {
      const next = frames.next();
      if (next.done) {
        running.delete(sessionID);
        take(sessionID);
        emit(status(sessionID, 'idle'));
        return;
      }
      turn.frame = next.value;
      emit(...next.value.updates);
      turn.timer = setTimeout(step, options.pace ?? 40);
    };
    // The core begins an answer before the model says anything.
    step();
  };

  const host: Host = {
    start: async () => {
      if (failing) {
        failing = false;
        throw { code: 'failed', message: 'The core is not there' } satisfies UiError;
      }
      return {
        projects: known,
        recent,
        settings,
        ...(options.damagedSettings !== undefined && { damagedSettings: options.damagedSettings }),
        version: '0.1.0',
      };
    },
    watch: async (listener) => {
      receive = listener;
      receive({ updates: [activity.whole()] });
    },
    onFolderWanted: async (tell) => {
      wantFolder = tell;
    },
    pickProject: async () => {
      const project = projects[1] ?? projects[0];
      if (!project) return null;
      if (!known.includes(project)) known.push(project);
      return { project, sessions: [...sessions.values()].filter((one) => one.projectID === project.id) };
    },
    listProjects: async () => [...known],
    listSessions: async (projectID) => [...sessions.values()].filter((one) => one.projectID === projectID),
    createSession: async (projectID) => {
      const now = Date.now();
      const directory = known.find((project) => project.id === projectID)?.worktree ?? '/';
      const session: Session = {
        id: clock.id('ses'),
        slug: 'quiet-lamp',
        projectID,
        directory,
        title: 'New session',
        version: '0.1.0',
        time: { created: now, updated: now },
      };
      sessions.set(session.id, session);
      return session;
    },
    renameSession: async (id, title) => {
      const session = { ...find(id), title };
      sessions.set(id, session);
      told(session);
    },
    archiveSession: async (id, archived) => {
      const { archived: _before, ...time } = find(id).time;
      const session = { ...find(id), time: archived ? { ...time, archived: Date.now() } : time };
      sessions.set(id, session);
      told(session);
    },
    deleteSession: async (id) => {
      const info = find(id);
      deleted.set(id, info);
      sessions.delete(id);
      emit({ kind: 'event', event: { type: 'session.deleted', properties: { info } } });
    },
    restoreSession: async (id) => {
      const session = deleted.get(id);
      if (session) sessions.set(id, session);
      deleted.delete(id);
    },
    openSession: async (id, limit) => {
      const session = find(id);
      const all = messages.get(id) ?? [];
      return {
        session,
        messages: all.slice(-limit),
        hasOlder: all.length > limit,
        hasNewer: false,
        todos: [],
        queued: waiting(id),
        undoable: undoable(id),
        context: useOf(all),
        lastUse: lastUseOf(all),
        damaged: [],
      };
    },
    olderMessages: async (id, before, limit) => {
      const all = messages.get(id) ?? [];
      const end = all.findIndex((message) => message.info.id === before);
      const from = Math.max(0, end - limit);
      return { messages: all.slice(from, Math.max(0, end)), hasOlder: from > 0, hasNewer: true, damaged: [] };
    },
    closeSession: async () => {},
    ...search,
    prompt: async (sessionID, { text, model, variant, agent, discardReverted }) => {
      ensureConsent(sessionID, discardReverted);
      const session = { ...find(sessionID), time: { ...find(sessionID).time, updated: Date.now() } };
      sessions.set(sessionID, session);
      const asked = createWriter(sessionID, clock, model, variant, agent).user(text);
      emit(
        { kind: 'event', event: { type: 'message.updated', properties: { info: asked.info } } },
        ...asked.parts.map((view) => ({ kind: 'part' as const, part: viewOf(view.part) })),
      );
      told(session);
      if (/\bask\b/.test(text)) emit(...sampleRequests(sessionID));
      if (running.has(sessionID)) add(sessionID, asked.info.id);
      else answer(sessionID, asked.info.id, model, /\blong\b/.test(text) ? 12 : 1);
      return asked.info.id;
    },
    abort: async (sessionID) => {
      const turn = running.get(sessionID);
      if (!turn) return;
      clearTimeout(turn.timer);
      running.delete(sessionID);
      const error = { name: 'MessageAbortedError' as const, data: { message: 'Stopped by the user' } };
      const info = turn.frame && { ...turn.frame.info, error };
      if (info) emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
      leave(sessionID);
      emit(status(sessionID, 'idle'));
    },
    retryNow: async () => {},
    answerPermission: async (requestID, reply) => {
      emit({ kind: 'event', event: { type: 'permission.replied', properties: { sessionID: '', requestID, reply } } });
    },
    answerQuestion: async (requestID, answers) => {
      emit({ kind: 'event', event: { type: 'question.replied', properties: { sessionID: '', requestID, answers } } });
    },
    dismissQuestion: async (requestID) => {
      emit({ kind: 'event', event: { type: 'question.rejected', properties: { sessionID: '', requestID } } });
    },
    ...attachments.host,
    runShell: async (sessionID, input) => {
      ensureConsent(sessionID, input.discardReverted);
      if (running.has(sessionID)) throw { code: 'busy', message: 'The session is being worked on' } satisfies UiError;
      const write = createWriter(sessionID, clock, input.model, input.variant, input.agent);
      const asked = write.user(`!${input.text}`);
      const [start, end] = [clock.now(), clock.now()];
      const state: ToolState = {
        status: 'completed',
        input: { command: input.text, description: '' },
        output: `ran ${input.text}\n`,
        title: '',
        metadata: { output: `ran ${input.text}\n`, exit: 0 },
        time: { start, end },
      };
      const answered = write.answer(asked.info.id, { time: { created: start, completed: end } }, (id) =>
        write.part(id, 'tool', call('bash', state)),
      );
      for (const message of [asked, answered]) {
        emit(
          { kind: 'event', event: { type: 'message.updated', properties: { info: message.info } } },
          ...message.parts.map((view) => ({ kind: 'part' as const, part: viewOf(view.part) })),
        );
      }
      return asked.info.id;
    },
    drawDiagram: async (source, dark) => {
      if (!/^(graph|flowchart|sequenceDiagram)\b/.test(source)) throw { code: 'failed', message: 'the diagram is not understood' } satisfies UiError;
      const [paper, ink] = dark ? ['#1d2024', '#e3e6ea'] : ['#ffffff', '#1b2026'];
      return `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="90"><rect width="240" height="90" fill="${paper}"/><text x="20" y="50" fill="${ink}">${source.length} letters</text></svg>`;
    },
    outline: async (sessionID) =>
      (messages.get(sessionID) ?? []).flatMap(({ info, parts }) => {
        const words = parts.map((view) => view.part).find((part) => part.type === 'text' && !part.synthetic);
        return info.role === 'user' && words?.type === 'text' ? [{ messageID: info.id, text: words.text.slice(0, 200) }] : [];
      }),
    runCommand: (sessionID, name, args, input) =>
      host.prompt(sessionID, { ...input, text: `/${name} ${args}`.trim() }),
    ...createFakeEnvironment(options.trust ?? 'nothing', options.sandbox, options.configProblems),
    ...time,
    ...reviewing,
    createSessionInWorktree: async (projectID) => {
      const session = await host.createSession(projectID);
      const apart = { ...session, directory: `${session.directory}-quiet-lamp` };
      sessions.set(apart.id, apart);
      return apart;
    },
    toolDetails: async (sessionID, messageID, partID, whole) => {
      const message = messages.get(sessionID)?.find((one) => one.info.id === messageID);
      const part = message?.parts.find((view) => view.part.id === partID)?.part;
      if (part?.type !== 'tool') throw { code: 'failed', message: 'This part is no longer there' } satisfies UiError;
      return detailsOf(part, whole);
    },
    partText: async (sessionID, messageID, partID) => {
      const message = messages.get(sessionID)?.find((one) => one.info.id === messageID);
      const part = message?.parts.find((view) => view.part.id === partID)?.part;
      if (part?.type === 'text' || part?.type === 'reasoning') return part.text;
      throw { code: 'failed', message: 'This part is no longer there' } satisfies UiError;
    },
    copyText: async () => {},
    copyPartText: async () => {},
    openAttachment: async () => {},
    openInEditor: async () => {},
    ...mcp,
    ...models,
    ...queue,
    ...createFakeContext(clock, messages, emit),
    ...imports,
    ...createFakeSettingsPages({ chooseMenu: (tell) => (chooseMenu = tell), wantSession: (tell) => (wantSession = tell), deleted }),
    saveSettings: async (next) => {
      settings = next;
    },
    remember: async () => {},
    openExternal: async () => {},
  };

  const startAgain = (projectID: string) => {
    recent = { projectID };
    wantFolder();
  };
  return {
    ...recorded(host, calls),
    startAgain,
    chooseMenu: (id) => chooseMenu(id),
    clickNotification: (sessionID) => wantSession(sessionID),
    emit,
    lose,
    attachments,
    sessions,
    messages,
    settings: () => settings,
    calls,
  };
}

function recorded(host: Host, calls: FakeHost['calls']): Host {
  const wrapped = Object.entries(host).map(([name, run]) => [
    name,
    (...args: unknown[]) => {
      calls.push({ name, args });
      return (run as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(wrapped) as Host;
}
