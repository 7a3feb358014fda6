/** Search over the scripted sessions. */
import type { FindHit, HitKind, MessageView, Part, SearchHit, Session, SnippetPiece } from '../../protocol';
import type { Host } from '../host';
import { lastUseOf, useOf } from './context';

type Needs = 'search' | 'findInSession' | 'openSessionAt' | 'newerMessages';

export function createFakeSearch(
  sessions: ReadonlyMap<string, Session>,
  messages: ReadonlyMap<string, MessageView[]>,
  find: (id: string) => Session,
): Pick<Host, Needs> {
  const texts = (sessionID: string) =>
    (messages.get(sessionID) ?? []).flatMap((message) =>
      message.parts.map((view) => ({ message, part: view.part, ...wordsOf(view.part) })),
    );
  return {
    search: async (query, limit) => {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length === 0) return { hits: [], indexing: false };
      const hits: SearchHit[] = [];
      for (const session of sessions.values()) {
        for (const { message, part, kind, text } of texts(session.id)) {
          const lower = text.toLowerCase();
          if (!words.every((word) => lower.includes(word))) continue;
          hits.push({
            sessionID: session.id,
            projectID: session.projectID,
            title: session.title,
            messageID: message.info.id,
            partID: part.id,
            kind,
            at: message.info.time.created,
            snippet: snippet(text, words[0] ?? ''),
          });
        }
      }
      return { hits: hits.slice(0, limit), indexing: false };
    },
    findInSession: async (sessionID, query) => {
      const wanted = query.trim().toLowerCase();
      const hits: FindHit[] = [];
      for (const { message, part, kind, text } of texts(sessionID)) {
        const count = wanted === '' ? 0 : text.toLowerCase().split(wanted).length - 1;
        for (let nth = 0; nth < count; nth += 1) {
          hits.push({ messageID: message.info.id, partID: part.id, kind, nth });
        }
      }
      return hits;
    },
    openSessionAt: async (id, messageID, limit) => {
      const session = find(id);
      const all = messages.get(id) ?? [];
      const at = all.findIndex((message) => message.info.id === messageID);
      const from = Math.max(0, at - Math.floor(limit / 2));
      return {
        session,
        messages: all.slice(from, from + limit),
        hasOlder: from > 0,
        hasNewer: all.length > from + limit,
        status: { type: 'idle' },
        permissions: [],
        questions: [],
        todos: [],
        queued: [],
        undoable: 0,
        context: useOf(all),
        lastUse: lastUseOf(all),
        damaged: [],
      };
    },
    newerMessages: async (id, after, limit) => {
      const all = messages.get(id) ?? [];
      const from = all.findIndex((message) => message.info.id === after) + 1;
      return { messages: all.slice(from, from + limit), hasOlder: true, hasNewer: all.length > from + limit, damaged: [] };
    },
  };
}

function wordsOf(part: Part): { kind: HitKind; text: string } {
  if (part.type === 'text' || part.type === 'reasoning') return { kind: part.type, text: part.text };
  if (part.type === 'tool' && part.state.status === 'completed') return { kind: 'tool', text: part.state.output };
  return { kind: 'text', text: '' };
}

function snippet(text: string, word: string): SnippetPiece[] {
  const at = text.toLowerCase().indexOf(word);
  const pieces = [
    { text: text.slice(Math.max(0, at - 30), at), hit: false },
    { text: text.slice(at, at + word.length), hit: true },
    { text: text.slice(at + word.length, at + word.length + 60), hit: false },
  ];
  return pieces.filter((piece) => piece.text !== '');
}
