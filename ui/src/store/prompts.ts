/** A prompt that was sent, as it could be sent once more. Pure. */
import type { FilePart, MessageView, PromptFile } from '../protocol';
import { kindOf, promptFile, resourceAttachment } from './attachments';
import type { Attachment, Draft } from './drafts';

/** As something to write on. */
export function draftOf(message: MessageView): Draft {
  return { text: textOf(message), attachments: attachedTo(message), symbols: [] };
}

/** Whether a person wrote or attached something: what the program asked for itself is no prompt. */
export function isWritten(message: MessageView): boolean {
  return textOf(message) !== '' || attachedTo(message).length > 0;
}

/** A prompt as it could be sent once more. */
export function contentOf(message: MessageView): { text: string; files: PromptFile[] } {
  const files = attachedTo(message).map(promptFile);
  return { text: textOf(message), files };
}

function textOf({ parts }: MessageView): string {
  const said = parts.flatMap(({ part }) => (part.type === 'text' && !part.synthetic ? [part.text] : []));
  return said.join('\n\n');
}

/** What the text names itself is found anew; the rest was attached and goes along again. */
function attachedTo({ parts }: MessageView): Attachment[] {
  const all = parts.flatMap(({ part }) => (part.type === 'file' ? (attachmentOf(part) ?? []) : []));
  // A resource may have come as several files.
  return all.filter((one, at) => all.findIndex((other) => other.id === one.id) === at);
}

function attachmentOf(file: FilePart): Attachment | undefined {
  const { id, url, mime, source } = file;
  const name = file.filename ?? mime;
  if (source?.type === 'resource') return resourceAttachment({ server: source.clientName, uri: source.uri, name, mime });
  return source ? undefined : { id, url, name, kind: kindOf(mime), mime, size: 0 };
}
