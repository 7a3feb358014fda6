/** What a session is called on screen. */
import { en } from '../i18n/en';
import { visibleLine } from '../text/visible';
import type { Session } from '../protocol';

/** The core names a session by its time until there is something to name it by. */
const BY_TIME = /^(New|Child) session - \d{4}-\d\d-\d\dT/;

/** As it was written; one without a title of its own is just new. */
export function writtenTitle(session: Pick<Session, 'title'> | undefined): string {
  const title = session?.title ?? '';
  return title === '' || BY_TIME.test(title) ? en.session.untitled : title;
}

export function titleOf(session: Pick<Session, 'title'> | undefined): string {
  return visibleLine(writtenTitle(session));
}
