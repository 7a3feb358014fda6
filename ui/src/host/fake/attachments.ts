/** Drafts of the scripted host and what is attached to them: in memory, pictures with their bytes in the address. */
import type { Attached, AttachmentView, Draft, DropUpdate, FilePart, MessageView, SessionImage } from '../../protocol';
import type { Host } from '../host';
import { PIXELS } from './pixels';

type Answers = Pick<
  Host,
  | 'drafts'
  | 'keepDraft'
  | 'pickAttachments'
  | 'pasteClipboard'
  | 'attachBytes'
  | 'findAttachments'
  | 'removeAttachment'
  | 'onDrop'
  | 'pictureURL'
  | 'sessionImages'
  | 'copyImage'
  | 'saveAttachment'
  | 'sessionUsage'
  | 'loadRemoteImage'
>;

export interface FakeAttachments {
  readonly host: Answers;
  readonly staged: Map<string, AttachmentView>;
  /** Drafts of an earlier run. */
  readonly drafts: Map<string, Draft>;
  /** What the next pick or paste returns. */
  next: Attached;
  /** As if files were dragged over the window. */
  drop(update: DropUpdate): void;
  /** Makes an attachment and stages it. */
  make(name: string, change?: Partial<AttachmentView>): AttachmentView;
}

export function createFakeAttachments(messages: ReadonlyMap<string, readonly MessageView[]>): FakeAttachments {
  const staged = new Map<string, AttachmentView>();
  const drafts = new Map<string, Draft>();
  let tell: (update: DropUpdate) => void = () => {};
  let made = 0;

  const make: FakeAttachments['make'] = (name, change = {}) => {
    made += 1;
    const id = `att_${made}`;
    const image = /\.(png|jpe?g|gif|webp)$/.test(name);
    const view: AttachmentView = {
      id,
      url: image ? PIXELS : `attachment://localhost/staged/${id}`,
      name,
      kind: image ? 'image' : 'text',
      mime: image ? 'image/png' : 'text/plain',
      size: 1234,
      ...(image ? { width: 48, height: 32 } : {}),
      ...change,
    };
    staged.set(id, view);
    return view;
  };

  const fake: FakeAttachments = {
    staged,
    next: { added: [], refused: [] },
    drop: (update) => tell(update),
    drafts,
    make,
    host: {
      drafts: async () => Object.fromEntries(drafts),
      keepDraft: async (place, draft) => {
        if (draft) drafts.set(place, draft);
        else drafts.delete(place);
      },
      pickAttachments: async () => fake.next,
      pasteClipboard: async () => fake.next,
      attachBytes: async (name, bytes) => ({ added: [make(name, { size: bytes.length })], refused: [] }),
      findAttachments: async (ids) => ids.flatMap((id) => staged.get(id) ?? []),
      removeAttachment: async (id) => {
        staged.delete(id);
      },
      onDrop: async (listener) => {
        tell = listener;
      },
      pictureURL: (url) => url,
      sessionImages: async (sessionID) => (messages.get(sessionID) ?? []).flatMap(imagesOf),
      copyImage: async () => {},
      saveAttachment: async () => true,
      loadRemoteImage: async (url) => {
        if (new URL(url).hostname.endsWith('.invalid')) throw { code: 'failed', message: 'The host is not known' };
        return PIXELS;
      },
      sessionUsage: async (sessionID) => usageOf(sessionID, messages.get(sessionID) ?? []),
    },
  };
  return fake;
}

function filesOf(message: MessageView): FilePart[] {
  return message.parts.flatMap(({ part }) => {
    if (part.type === 'file') return [part];
    return part.type === 'tool' && part.state.status === 'completed' ? (part.state.attachments ?? []) : [];
  });
}

function imagesOf(message: MessageView): SessionImage[] {
  return filesOf(message)
    .filter((file) => file.mime.startsWith('image/'))
    .map(({ messageID, id, url, filename, mime }) => ({ messageID, partID: id, url, name: filename ?? '', mime }));
}

function usageOf(sessionID: string, messages: readonly MessageView[]) {
  const answers = messages.flatMap(({ info }) => (info.role === 'assistant' ? [info] : []));
  const sum = (pick: (info: (typeof answers)[number]) => number) =>
    answers.reduce((total, info) => total + pick(info), 0);
  return {
    sessionID,
    cost: sum((info) => info.cost),
    tokens: {
      input: sum((info) => info.tokens.input),
      output: sum((info) => info.tokens.output),
      reasoning: sum((info) => info.tokens.reasoning),
      cache: { read: sum((info) => info.tokens.cache.read), write: sum((info) => info.tokens.cache.write) },
    },
    steps: answers.length,
  };
}
