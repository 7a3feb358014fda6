/** A prompt that was sent, as it could be sent once more. Pure. */
import type { AttachmentKind, AttachmentView, FilePart, MessageView, PromptFile } from '../protocol';
import type { Draft } from './drafts';

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
  const files = attachedTo(message).map(({ url, mime, name }) => ({ url, mime, filename: name }));
  return { text: textOf(message), files };
}

function textOf({ parts }: MessageView): string {
  const said = parts.flatMap(({ part }) => (part.type === 'text' && !part.synthetic ? [part.text] : []));
  return said.join('\n\n');
}

/** What the text names itself is found anew; the rest was attached and goes along again. */
function attachedTo({ parts }: MessageView): AttachmentView[] {
  return parts.flatMap(({ part }) => (part.type === 'file' && !part.source ? [attachmentOf(part)] : []));
}

function attachmentOf(file: FilePart): AttachmentView {
  return { id: file.id, url: file.url, name: file.filename ?? file.mime, kind: kindOf(file), mime: file.mime, size: 0 };
}

function kindOf({ mime }: FilePart): AttachmentKind {
  if (mime === 'application/x-directory') return 'directory';
  if (mime === 'application/pdf') return 'pdf';
  return mime.startsWith('image/') ? 'image' : 'text';
}
