/**
 * The open session as the timeline shows it. One slice of the state.
 *
 * Each message and each part has signals of its own. A streaming answer sets the blocks of one
 * part, and only what draws that part runs.
 */
import { batch, createSignal, type Accessor } from 'solid-js';
import type {
  ContextUse,
  Damaged,
  Event,
  LastUse,
  Message,
  MessagePage,
  MessageView,
  PartView,
  SessionView,
  Todo,
  UiUpdate,
} from '../protocol';
import { compareMessages, compareParts, insertInOrder } from './order';
import { createFields } from './reactive';

/** Every field is a signal, as are those of the messages and their parts. */
export interface OpenSession {
  readonly sessionID: string;
  readonly messages: readonly MessageView[];
  readonly hasOlder: boolean;
  /** It was opened somewhere inside: updates of later messages do not concern it. */
  readonly hasNewer: boolean;
  /** The agent's own list of what is left to do. */
  readonly todos: readonly Todo[];
  /** Prompts that wait for the next step and can still be changed. */
  readonly queued: readonly string[];
  /** How many reverts, besides a pending one, could be undone when the session was opened. */
  readonly undoable: number;
  /** How full the model’s context was when the session was opened. */
  readonly context: ContextUse;
  /** The agent and model of the newest prompt, whether that is loaded or not. */
  readonly lastUse: LastUse | undefined;
  /** Stored files that could not be read. */
  readonly damaged: readonly Damaged[];
  /** Updates were lost, or one did not fit: the session must be opened again. */
  readonly stale: boolean;
}

export interface Timeline {
  readonly open: Accessor<OpenSession | undefined>;
  /** The session whose newest messages were asked for and have not come yet. */
  readonly opening: Accessor<string | undefined>;
}

export interface TimelineSlice extends Timeline {
  begin(sessionID: string): void;
  /** The newest messages came. False if the session is no longer wanted. */
  show(view: SessionView): boolean;
  cancel(sessionID: string): void;
  close(): void;
  /** A page belongs in front of the message it was asked for. If that is not the first one, it is dropped. */
  addOlder(sessionID: string, before: string, page: MessagePage): void;
  /** A newer page was asked for: updates of its messages are kept until it is added. */
  expectNewer(sessionID: string): void;
  /** Without a page if it could not be read. */
  addNewer(sessionID: string, after: string, page: MessagePage | undefined): void;
  /** Changes nothing if the update is about another session. */
  apply(update: UiUpdate): void;
}

interface PartNode {
  readonly view: PartView;
  set(change: Partial<PartView>): void;
}

interface MessageNode {
  readonly view: MessageView;
  readonly parts: Map<string, PartNode>;
  set(change: Partial<MessageView>): void;
}

interface OpenNode {
  readonly view: OpenSession;
  readonly messages: Map<string, MessageNode>;
  set(change: Partial<OpenSession>): void;
}

export function createTimeline(): TimelineSlice {
  const [node, setNode] = createSignal<OpenNode | undefined>();
  const [opening, setOpening] = createSignal<string | undefined>();
  /** Updates that came before the messages they belong to. */
  let early: UiUpdate[] = [];
  /** Those that came while a newer page was read, of the session it belongs to. */
  let expected: { readonly open: OpenNode; readonly updates: UiUpdate[] } | undefined;

  const find = (sessionID: string) => {
    const open = node();
    return open?.view.sessionID === sessionID ? open : undefined;
  };
  const setOpeningTo = (sessionID: string | undefined) => {
    early = [];
    setOpening(sessionID);
  };

  return {
    open: () => node()?.view,
    opening,
    begin: setOpeningTo,
    show(view) {
      if (opening() !== view.session.id) return false;
      const made = createOpen(view);
      for (const update of early) applyTo(made, update);
      setOpeningTo(undefined);
      setNode(made);
      return true;
    },
    cancel(sessionID) {
      if (opening() === sessionID) setOpeningTo(undefined);
    },
    close: () =>
      batch(() => {
        setOpeningTo(undefined);
        setNode(undefined);
      }),
    addOlder(sessionID, before, page) {
      const open = find(sessionID);
      if (!open || open.view.messages[0]?.info.id !== before) return;
      const messages = [...add(open, page.messages), ...open.view.messages];
      open.set({ messages, damaged: [...page.damaged, ...open.view.damaged], hasOlder: page.hasOlder });
    },
    expectNewer(sessionID) {
      const open = find(sessionID);
      expected = open && { open, updates: [] };
    },
    addNewer(sessionID, after, page) {
      const open = find(sessionID);
      const updates = expected?.open === open ? (expected?.updates ?? []) : [];
      expected = undefined;
      if (!page || !open || open.view.messages.at(-1)?.info.id !== after) return;
      const messages = [...open.view.messages, ...add(open, page.messages)];
      open.set({ messages, damaged: [...open.view.damaged, ...page.damaged], hasNewer: page.hasNewer });
      // The page may have been read before these: the newest of each says what is so.
      for (const update of updates) applyTo(open, update);
    },
    apply(update) {
      const sessionID = sessionOf(update);
      if (sessionID === undefined) return;
      if (sessionID === opening()) early.push(update);
      else {
        const open = find(sessionID);
        if (open) applyTo(open, update);
        if (open && expected?.open === open) expected.updates.push(update);
      }
    },
  };
}

function createOpen(view: SessionView): OpenNode {
  const [fields, set] = createFields<OpenSession>({
    sessionID: view.session.id,
    messages: [],
    hasOlder: view.hasOlder,
    hasNewer: view.hasNewer,
    todos: view.todos,
    queued: view.queued,
    undoable: view.undoable,
    context: view.context,
    lastUse: view.lastUse ?? undefined,
    damaged: view.damaged,
    stale: false,
  });
  const open = { view: fields, set, messages: new Map<string, MessageNode>() };
  set({ messages: add(open, view.messages) });
  return open;
}

function createMessage({ info, parts }: MessageView): MessageNode {
  const nodes = new Map(parts.map((view) => [view.part.id, createPart(view)]));
  const [view, set] = createFields<MessageView>({ info, parts: [...nodes.values()].map((part) => part.view) });
  return { view, set, parts: nodes };
}

function createPart({ part, blocks, cut }: PartView): PartNode {
  const [view, set] = createFields<PartView>({ part, blocks, cut });
  return { view, set };
}

/** Makes nodes for the messages that are not there yet. */
function add(open: OpenNode, messages: readonly MessageView[]): MessageView[] {
  const fresh = messages.filter((message) => !open.messages.has(message.info.id));
  return fresh.map((message) => {
    const made = createMessage(message);
    open.messages.set(message.info.id, made);
    return made.view;
  });
}

/** The session whose timeline an update changes; undefined if it changes none. */
function sessionOf(update: UiUpdate): string | undefined {
  switch (update.kind) {
    case 'part':
      return update.part.part.sessionID;
    case 'blocks':
    case 'queue':
    case 'reset':
      return update.sessionID;
    case 'event':
      return sessionOfEvent(update.event);
    case 'activity':
    case 'review':
    case 'outside':
    case 'store':
      return undefined;
  }
}

function sessionOfEvent(event: Event): string | undefined {
  switch (event.type) {
    case 'message.updated':
      return event.properties.info.sessionID;
    case 'message.removed':
    case 'message.part.removed':
    case 'todo.updated':
      return event.properties.sessionID;
    default:
      return undefined;
  }
}

function applyTo(open: OpenNode, update: UiUpdate): void {
  switch (update.kind) {
    case 'part':
      return putPart(open.messages.get(update.part.part.messageID), update.part);
    case 'blocks':
      return putBlocks(open, update);
    case 'reset':
      return open.set({ stale: true });
    case 'queue':
      return open.set({ queued: update.messages });
    case 'event':
      return applyEvent(open, update.event);
  }
}

function applyEvent(open: OpenNode, event: Event): void {
  switch (event.type) {
    case 'message.updated':
      return putMessage(open, event.properties.info);
    case 'message.removed':
      open.messages.delete(event.properties.messageID);
      return open.set({ messages: open.view.messages.filter(({ info }) => info.id !== event.properties.messageID) });
    case 'message.part.removed': {
      const message = open.messages.get(event.properties.messageID);
      message?.parts.delete(event.properties.partID);
      return message?.set({ parts: message.view.parts.filter(({ part }) => part.id !== event.properties.partID) });
    }
    case 'todo.updated':
      return open.set({ todos: event.properties.todos });
  }
}

function putMessage(open: OpenNode, info: Message): void {
  putLastUse(open, info);
  const known = open.messages.get(info.id);
  if (known) {
    // A queued prompt that was moved has another date.
    const moved = known.view.info.time.created !== info.time.created;
    known.set({ info });
    if (moved) open.set({ messages: open.view.messages.toSorted((a, b) => compareMessages(a.info, b.info)) });
    return;
  }
  const { messages, hasOlder, hasNewer } = open.view;
  const [first, last] = [messages[0], messages.at(-1)];
  // It belongs to a page that is not loaded, and will come with it.
  if (hasOlder && first && compareMessages(info, first.info) < 0) return;
  if (hasNewer && last && compareMessages(info, last.info) > 0) return;
  const [fresh] = add(open, [{ info, parts: [] }]);
  if (fresh) open.set({ messages: insertInOrder(messages, fresh, (a, b) => compareMessages(a.info, b.info)) });
}

/** Also where the prompt itself is not shown: the agent of the next one does not depend on what is loaded. */
function putLastUse(open: OpenNode, info: Message): void {
  if (info.role !== 'user' || info.time.created < (open.view.lastUse?.created ?? 0)) return;
  const { agent, model, variant } = info;
  const lastUse: LastUse = {
    created: info.time.created,
    ...(agent !== undefined && { agent }),
    ...(model && { model }),
    ...(variant !== undefined && { variant }),
  };
  open.set({ lastUse });
}

function putPart(message: MessageNode | undefined, view: PartView): void {
  if (!message) return;
  const known = message.parts.get(view.part.id);
  if (known) return known.set({ part: view.part, blocks: view.blocks, cut: view.cut });
  const fresh = createPart(view);
  message.parts.set(view.part.id, fresh);
  message.set({ parts: insertInOrder(message.view.parts, fresh.view, (a, b) => compareParts(a.part, b.part)) });
}

function putBlocks(open: OpenNode, update: Extract<UiUpdate, { kind: 'blocks' }>): void {
  const message = open.messages.get(update.messageID);
  if (!message && open.view.hasNewer) return;
  const part = message?.parts.get(update.partID);
  const known = part?.view.blocks ?? [];
  // It builds on blocks that were never seen here.
  if (!part || known.length < update.keep) return open.set({ stale: true });
  part.set({ blocks: [...known.slice(0, update.keep), ...update.blocks] });
}
