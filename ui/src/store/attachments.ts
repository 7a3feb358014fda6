/**
 * The attachments of a prompt: drop, paste, pick, reorder, remove.
 *
 * The list is in the draft. The bytes are with the host; here they only have an address.
 */
import { createSignal, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import { bytes } from '../text/format';
import { visible } from '../text/visible';
import type {
  Attached,
  AttachmentKind,
  AttachmentView,
  DraftAttachment,
  McpResourceView,
  PromptFile,
  RefusedAttachment,
} from '../protocol';
import type { Core } from './app';

/** The maximum number of attachments that providers accept. */
const MOST_ATTACHMENTS = 20;
/** Longer pasted text becomes an attachment. */
const LONG_PASTE = { characters: 4000, lines: 60 };

export interface Attachments {
  readonly list: Accessor<readonly DraftAttachment[]>;
  /** The number of files dragged over the window; undefined for none. */
  readonly hovering: Accessor<number | undefined>;
  pick(folders: boolean): Promise<void>;
  /** Pastes from the system's clipboard, if the webview cannot read it. */
  pasteSystem(): Promise<void>;
  pasteFiles(files: readonly File[]): Promise<void>;
  /** Attaches long text; `inline` is called if the person wants it in the prompt after all. */
  pasteText(text: string, inline: (where: string) => void): Promise<void>;
  /** Attaches a resource of a tool server. It is read when the prompt is sent. */
  addResource(resource: McpResourceView): void;
  remove(id: string): void;
  /** Moves it by one towards the beginning (-1) or the end (1). */
  move(id: string, step: number): void;
  /** Listens for dropped files. */
  start(): Promise<void>;
  /** Removes attachments from the draft that no longer exist, such as after a restart. */
  check(place: string): Promise<void>;
}

export function isLong(text: string): boolean {
  return text.length > LONG_PASTE.characters || text.split('\n').length > LONG_PASTE.lines;
}

export function moved<T extends { readonly id: string }>(list: readonly T[], id: string, step: number): readonly T[] {
  const from = list.findIndex((one) => one.id === id);
  const to = from + step;
  const one = list[from];
  if (!one || to < 0 || to >= list.length) return list;
  return list.toSpliced(from, 1).toSpliced(to, 0, one);
}

export function createAttachments(core: Core, place: Accessor<string>): Attachments {
  const { host, drafts, toasts, attempt } = core;
  const [hovering, setHovering] = createSignal<number | undefined>();
  const list = () => drafts.get(place()).attachments;
  const set = (where: string, attachments: readonly DraftAttachment[]) => drafts.change(where, { attachments });

  const add = (where: string, { added, refused }: Attached) => {
    const now = drafts.get(where).attachments;
    // No duplicates.
    const isThere = (one: DraftAttachment) =>
      now.some((old) => old.id === one.id || (one.path !== undefined && old.path === one.path));
    const fresh = added.filter((one) => !isThere(one));
    const room = Math.max(0, MOST_ATTACHMENTS - now.length);
    const taken = fresh.slice(0, room);
    if (taken.length > 0) set(where, [...now, ...taken]);
    for (const left of added) {
      if (!taken.includes(left) && isStaged(left)) void host.removeAttachment(left.id);
    }
    if (fresh.length > room) toasts.show({ tone: 'error', text: en.attach.tooMany(MOST_ATTACHMENTS, fresh.length - room) });
    for (const one of refused) toasts.show({ tone: 'error', text: whyNot(one) });
  };
  const take = async (work: () => Promise<Attached>, where = place()): Promise<Attached | undefined> => {
    const attached = await attempt(work);
    if (attached) add(where, attached);
    return attached;
  };
  const remove = (id: string, where = place()) => {
    set(
      where,
      drafts.get(where).attachments.filter((one) => one.id !== id),
    );
    if (isStaged({ id })) void attempt(() => host.removeAttachment(id));
  };

  return {
    list,
    hovering,
    remove: (id) => remove(id),
    async pick(folders) {
      await take(() => host.pickAttachments(folders));
    },
    async pasteSystem() {
      await take(() => host.pasteClipboard());
    },
    async pasteFiles(files) {
      const where = place();
      for (const file of files) {
        await take(async () => host.attachBytes(file.name, new Uint8Array(await file.arrayBuffer())), where);
      }
    },
    async pasteText(text, inline) {
      const where = place();
      const attached = await take(() => host.attachBytes(en.attach.pastedText, new TextEncoder().encode(text)), where);
      const made = attached?.added[0];
      const waits = () => drafts.get(where).attachments.some((one) => one.id === made?.id);
      if (!made || !waits()) return;
      toasts.show({
        tone: 'info',
        text: en.attach.pasted(text.split('\n').length),
        action: {
          label: en.attach.inline,
          run: () => {
            // Sent or removed in the meantime.
            if (!waits()) return;
            remove(made.id, where);
            inline(where);
          },
        },
      });
    },
    addResource: (resource) => add(place(), { added: [resourceAttachment(resource)], refused: [] }),
    move: (id, step) => set(place(), moved(list(), id, step)),
    start: () =>
      host.onDrop((update) => {
        setHovering(update.kind === 'over' ? update.count : undefined);
        if (update.kind === 'dropped') add(place(), update.attached);
      }),
    async check(where) {
      const staged = drafts.get(where).attachments.filter(isStaged);
      if (staged.length === 0) return;
      const found = await attempt(() => host.findAttachments(staged.map((one) => one.id)));
      if (!found || found.length === staged.length) return;
      const still = new Set(found.map((one) => one.id));
      set(
        where,
        drafts.get(where).attachments.filter((one) => !isStaged(one) || still.has(one.id)),
      );
    },
  };
}

/** The file as it is sent with a prompt. */
export function promptFile({ url, mime, name, resource }: DraftAttachment): PromptFile {
  const file: PromptFile = { url, mime, filename: name };
  if (!resource) return file;
  // No text of the prompt mentions it, so the range is empty.
  const text = { value: '', start: 0, end: 0 };
  return { ...file, source: { type: 'resource', clientName: resource.server, uri: resource.uri, text } };
}

export function resourceAttachment({ server, uri, name, mime = 'text/plain' }: Omit<McpResourceView, 'description'>): DraftAttachment {
  return { id: `mcp:${server}:${uri}`, url: uri, name, kind: kindOf(mime), mime, size: 0, resource: { server, uri } };
}

export function kindOf(mime: string): AttachmentKind {
  if (mime === 'application/x-directory') return 'directory';
  if (mime === 'application/pdf') return 'pdf';
  return mime.startsWith('image/') ? 'image' : 'text';
}

/** Attachments of an edited prompt are stored with it and have the ids of their parts. */
export function isStaged({ id }: Pick<AttachmentView, 'id'>): boolean {
  return id.startsWith('att_');
}

function whyNot({ name, why, limit }: RefusedAttachment): string {
  const called = visible(name);
  return why === 'too-large'
    ? en.attach.refused['too-large'](called, bytes(limit ?? 0))
    : en.attach.refused[why](called);
}
