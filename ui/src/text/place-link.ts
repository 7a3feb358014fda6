/** Links to a place in a session: they can be kept in notes, and are followed with a click, and in the palette. Pure. */
export interface LinkedPlace {
  readonly sessionID: string;
  readonly messageID: string;
  readonly partID?: string;
}

const LINK = /^lathe:\/\/session\/(ses_\w+)\/(msg_\w+)(?:\/(prt_\w+))?$/;

export function linkTo({ sessionID, messageID, partID }: LinkedPlace): string {
  return `lathe://session/${sessionID}/${messageID}${partID === undefined ? '' : `/${partID}`}`;
}

/** Undefined if the text is not such a link. */
export function placeOfLink(text: string): LinkedPlace | undefined {
  const [, sessionID, messageID, partID] = LINK.exec(text.trim()) ?? [];
  if (sessionID === undefined || messageID === undefined) return undefined;
  return partID === undefined ? { sessionID, messageID } : { sessionID, messageID, partID };
}
