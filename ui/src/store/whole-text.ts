/** Texts that are too long for the page: it has their beginning, and loads the rest where it is needed. */
import type { Host } from '../host/host';
import type { MessageView, PartView } from '../protocol';

type Source = Pick<Host, 'partText'>;

/** The whole text of a text or reasoning part. */
export async function wholeText(host: Source, { part, cut }: PartView): Promise<string> {
  if (part.type !== 'text' && part.type !== 'reasoning') return '';
  return cut ? host.partText(part.sessionID, part.messageID, part.id) : part.text;
}

/** Whether the page has all texts of a message. */
export function isWhole({ parts }: MessageView): boolean {
  return parts.every(({ cut }) => !cut);
}

/** A message with the whole text of every part. */
export async function wholeMessage(host: Source, message: MessageView): Promise<MessageView> {
  const parts = await Promise.all(message.parts.map((view) => wholePart(host, view)));
  return { info: message.info, parts };
}

async function wholePart(host: Source, view: PartView): Promise<PartView> {
  const { part, cut } = view;
  if (!cut || (part.type !== 'text' && part.type !== 'reasoning')) return view;
  return { part: { ...part, text: await wholeText(host, view) } };
}
