/** What the review shows: the session, one turn, what came since a snapshot, or what git has not committed. */
import Camera from 'lucide-solid/icons/camera';
import Check from 'lucide-solid/icons/check';
import ChevronDown from 'lucide-solid/icons/chevron-down';
import GitBranch from 'lucide-solid/icons/git-branch';
import History from 'lucide-solid/icons/rotate-ccw-clock';
import MessageSquare from 'lucide-solid/icons/message-square';
import { createMemo } from 'solid-js';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { Menu, type MenuItem } from '../kit/Menu';
import type { MessageView, ReviewScope } from '../protocol';
import { useApp } from '../store/context';
import { visibleLine } from '../text/visible';

const LONGEST = 48;

export function ScopePicker() {
  const app = useApp();
  const { review } = app;
  const { scope: words } = en.review;
  const messages = () => app.timeline.open()?.messages ?? [];
  const isNow = (scope: ReviewScope) => JSON.stringify(scope) === JSON.stringify(review.scope());
  const item = (label: string, icon: Icon, scope: ReviewScope): MenuItem => ({
    label,
    icon: isNow(scope) ? Check : icon,
    run: () => review.setScope(scope),
  });
  const items = createMemo<MenuItem[]>(() => [
    item(words.session, History, { kind: 'session' }),
    ...(app.project()?.vcs === 'git' ? [item(words.uncommitted, GitBranch, { kind: 'uncommitted' })] : []),
  ]);
  const turnOf = (message: MessageView): MenuItem[] => {
    const changed = message.info.role === 'user' && (message.info.summary?.diffs?.length ?? 0) > 0;
    const chosen = isNow({ kind: 'turn', messageID: message.info.id });
    if (!changed && !chosen) return [];
    return [item(words.turn(titleOf(message)), MessageSquare, { kind: 'turn', messageID: message.info.id })];
  };
  const snapshotsOf = ({ parts }: MessageView): MenuItem[] =>
    parts.flatMap(({ part }) =>
      part.type === 'snapshot' && part.name !== undefined
        ? [item(words.snapshot(visibleLine(part.name)), Camera, { kind: 'snapshot', messageID: part.messageID, partID: part.id })]
        : [],
    );
  /** The newest first. */
  const turns = createMemo<MenuItem[]>(() => messages().flatMap((message) => [...turnOf(message), ...snapshotsOf(message)]).reverse());
  const number = () => {
    const at = review.steps.at();
    return at === undefined ? undefined : at + 1;
  };
  const title = () => {
    const scope = review.scope();
    switch (scope.kind) {
      case 'session':
        return words.session;
      case 'turn': {
        const message = messages().find(({ info }) => info.id === scope.messageID);
        return message ? words.turn(titleOf(message)) : words.oneTurn;
      }
      case 'step':
        return words.step(number());
      case 'until':
        return words.until(number());
      case 'snapshot': {
        const part = messages().flatMap(({ parts }) => parts).find(({ part }) => part.id === scope.partID)?.part;
        return part?.type === 'snapshot' && part.name !== undefined ? words.snapshot(visibleLine(part.name)) : words.oneSnapshot;
      }
      case 'uncommitted':
        return words.uncommitted;
    }
  };
  return (
    <Menu class="scope-picker" label={`${words.label}: ${title()}`} items={items()} more={{ label: words.turns, items: turns() }}>
      <span class="scope-title">{title()}</span>
      <ChevronDown size={13} aria-hidden="true" />
    </Menu>
  );
}

/** The beginning of a prompt. */
function titleOf({ parts }: MessageView): string {
  const text = parts.map(({ part }) => (part.type === 'text' && part.synthetic !== true ? part.text : '')).join(' ');
  const line = visibleLine(text.trim().split('\n', 1)[0] ?? '');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
