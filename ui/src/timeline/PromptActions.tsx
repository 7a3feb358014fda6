import GitFork from 'lucide-solid/icons/git-fork';
import GitBranch from 'lucide-solid/icons/git-branch';
import History from 'lucide-solid/icons/rotate-ccw-clock';
import Pencil from 'lucide-solid/icons/pencil';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { CopyButton } from '../kit/CopyButton';
import { copyText } from '../kit/clipboard';
import { Menu, type MenuItem } from '../kit/Menu';
import { offerAround } from '../kit/offers';
import type { MessageView } from '../protocol';
import { useApp } from '../store/context';
import { isWhole, wholeMessage } from '../store/whole-text';
import { wordsOf } from './turn-text';

/** Actions for a sent prompt: edit it here, or in a fork. */
export function PromptActions(props: { message: MessageView }) {
  const app = useApp();
  const fork = (worktree: boolean) => () => void app.fork(props.message.info.id, worktree);
  const restore = () => {
    app.review.open();
    void app.review.steps.ask({ messageID: props.message.info.id });
  };
  const forks = createMemo<MenuItem[]>(() => [
    { label: en.fork.here, icon: GitFork, run: fork(false) },
    ...(app.busy() ? [] : [{ label: en.review.steps.restoreHere, icon: History, run: restore }]),
    ...(app.project()?.vcs === 'git' ? [{ label: en.fork.hereWorktree, icon: GitBranch, run: fork(true) }] : []),
  ]);
  const words = ({ parts }: MessageView) => wordsOf(parts).join('\n\n');
  const copyWhole = async () => {
    const load = async () => app.host.copyText(words(await wholeMessage(app.host, props.message))).then(() => true);
    return (await app.attempt(load)) ?? false;
  };
  const items = (): MenuItem[] => [
    {
      label: en.part.copyText,
      run: () => void (isWhole(props.message) ? copyText(words(props.message)) : copyWhole()),
    },
    ...(app.busy() ? [] : [{ label: en.edit.begin, run: () => void app.editing.begin(props.message) }]),
    ...forks(),
  ];
  return (
    <div class="user-actions" ref={offerAround('.user-message', items)}>
      <CopyButton
        text={() => words(props.message)}
        {...(!isWhole(props.message) && { copy: copyWhole })}
        label={en.part.copyText}
      />
      <Menu label={en.fork.menu} items={forks()}>
        <GitFork size={13} aria-hidden="true" />
      </Menu>
      <Show when={!app.busy()}>
        <IconButton
          data-testid="edit-prompt"
          icon={Pencil}
          size={13}
          label={en.edit.begin}
          onClick={() => void app.editing.begin(props.message)}
        />
      </Show>
    </div>
  );
}
