/**
 * Groups messages into turns: a user message and its answers.
 *
 * A turn is one row of the virtual list, but a very long one is divided into several, so that the DOM
 * stays small. Rows keep their identity while messages are added at either end: a message that once
 * began a row always begins one.
 */
import type { AssistantMessage, Message, MessageView } from '../protocol';

export interface Answer extends MessageView {
  readonly info: { role: 'assistant' } & AssistantMessage;
}

export interface Row {
  /** The id of the row's first message, which never changes. */
  readonly key: string;
  readonly turnID: string;
  readonly user?: MessageView;
  readonly answers: readonly Answer[];
  /** The user message is queued and can still be changed. */
  readonly queued: boolean;
  /** No later row belongs to its turn. */
  readonly ends: boolean;
}

const PARTS_A_ROW = 40;

export function turnOf(info: Message): string {
  return info.role === 'user' ? info.id : info.parentID;
}

/** Keeps the row starts of `previous`, and the row objects that did not change. */
export function rowsOf(
  messages: readonly MessageView[],
  queued: readonly string[],
  previous: readonly Row[],
): Row[] {
  const known = new Map(previous.map((row) => [row.key, row]));
  const rows: Row[] = [];
  let weight = 0;
  for (const message of inTurns(messages)) {
    const last = rows.at(-1);
    const turnID = turnOf(message.info);
    const goesOn = last?.turnID === turnID && weight < PARTS_A_ROW && !known.has(message.info.id);
    if (!last || !goesOn) {
      rows.push(startRow(message, turnID));
      weight = message.parts.length;
    } else {
      (last.answers as Answer[]).push(message as Answer);
      weight += message.parts.length;
    }
  }
  return rows.map((row, index) => {
    const fresh = {
      ...row,
      queued: row.user !== undefined && queued.includes(row.user.info.id),
      ends: rows[index + 1]?.turnID !== row.turnID,
    };
    const before = known.get(row.key);
    return before && sameRow(before, fresh) ? before : fresh;
  });
}

/** It was not taken up: it waits, or its turn ended before. */
export function isUnsent(info: Message): boolean {
  return info.role === 'user' && info.unsent === true;
}

/** The turn that a busy session works on: the last one, without the prompts that wait behind it. */
export function workedOn(rows: readonly Row[]): string | undefined {
  return rows.findLast((row) => !row.queued && !(row.user && isUnsent(row.user.info)))?.turnID;
}

function startRow(message: MessageView, turnID: string): Row {
  const base = { key: message.info.id, turnID, queued: false, ends: true };
  if (message.info.role === 'user') return { ...base, user: message, answers: [] };
  return { ...base, answers: [message as Answer] };
}

/** Puts an answer under its prompt even if another prompt was sent in between. */
function inTurns(messages: readonly MessageView[]): MessageView[] {
  const turns = new Map<string, MessageView[]>();
  for (const message of messages) {
    const turnID = turnOf(message.info);
    const turn = turns.get(turnID);
    if (!turn) turns.set(turnID, [message]);
    // The prompt comes first in its turn, even if the clock was set back before the answer.
    else if (message.info.role === 'user') turn.unshift(message);
    else turn.push(message);
  }
  return [...turns.values()].flat();
}

function sameRow(a: Row, b: Row): boolean {
  return (
    a.user === b.user &&
    a.queued === b.queued &&
    a.ends === b.ends &&
    a.turnID === b.turnID &&
    a.answers.length === b.answers.length &&
    a.answers.every((answer, index) => answer === b.answers[index])
  );
}
