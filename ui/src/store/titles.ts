/** The title of a session on screen. */
import { en } from '../i18n/en';
import { visibleLine } from '../text/visible';
import type { Session } from '../protocol';

/** The core's title for a session that has no title yet. */
const BY_TIME = /^(New|Child) session - \d{4}-\d\d-\d\dT/;

/** The title, or a placeholder for a new session. */
export function writtenTitle(session: Pick<Session, 'title'> | undefined): string {
  const title = session?.title ?? '';
  return title === '' || BY_TIME.test(title) ? en.session.untitled : title;
}

export function titleOf(session: Pick<Session, 'title'> | undefined): string {
  return visibleLine(writtenTitle(session));
}
