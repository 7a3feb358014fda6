/** The buttons of a file or a hunk in the review, and what is being done with it. */
import Check from 'lucide-solid/icons/check';
import MessageSquarePlus from 'lucide-solid/icons/message-square-plus';
import SquarePen from 'lucide-solid/icons/square-pen';
import Undo2 from 'lucide-solid/icons/undo-2';
import { Show } from 'solid-js';
import type { DiffFile, Hunk } from '../diff/model';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { useApp } from '../store/context';
import { visibleLine } from '../text/visible';
import { fileSpot, hunkSpot, lineOf } from './spots';
import type { ReviewTools } from './tools';

interface ActionsProps {
  readonly file: DiffFile;
  readonly hunk: Hunk | undefined;
  readonly tools: ReviewTools;
}

export function ChangeActions(props: ActionsProps) {
  const app = useApp();
  const { judge } = app.review;
  const spot = () => (props.hunk ? hunkSpot(props.file, props.hunk) : fileSpot(props.file));
  const kept = () => (props.hunk ? props.hunk.kept : props.file.kept) === 'all';
  const doing = () => judge.working(spot().key);
  const path = () => visibleLine(props.file.path);
  /** The only change of its file, whose header has the same buttons. */
  const alone = () => props.hunk !== undefined && (props.file.status === 'added' || props.file.status === 'deleted');
  return (
    <Show
      when={!props.file.gone}
      fallback={
        <>
          <span class="review-gone">{en.review.gone}</span>
          <UndoHere name={spot().key} />
        </>
      }
    >
      <Show
        when={doing()}
        fallback={
          <>
            <Show when={props.tools.canComment()}>
              <Show when={props.hunk}>
                {(hunk) => (
                  <IconButton
                    icon={MessageSquarePlus}
                    size={14}
                    label={en.review.comment.add}
                    keys="C"
                    data-testid="comment-hunk"
                    onClick={() => props.tools.comment(props.file, hunk())}
                  />
                )}
              </Show>
            </Show>
            <Show when={!alone()}>
              <IconButton
                icon={SquarePen}
                size={14}
                label={en.review.openFile}
                keys="O"
                data-testid="open-in-editor"
                onClick={() => props.tools.edit(props.file, lineOf(props.hunk))}
              />
              <Show when={props.tools.canKeep()}>
                <Button
                  class="review-act"
                  icon={Check}
                  aria-pressed={kept()}
                  title={kept() ? en.review.unkeep : `${en.review.keep} (K)`}
                  aria-label={props.hunk ? undefined : en.review.keepFile(path())}
                  data-testid={props.hunk ? 'keep-hunk' : 'keep-file'}
                  onClick={() => props.tools.keep(props.file, props.hunk)}
                >
                  {en.review.keep}
                </Button>
                <Button
                  class="review-act"
                  icon={Undo2}
                  title={`${en.review.revert} (${en.review.revertKey})`}
                  aria-label={props.hunk ? undefined : en.review.revertFile(path())}
                  data-testid={props.hunk ? 'revert-hunk' : 'revert-file'}
                  disabled={!props.tools.canRevert()}
                  onClick={() => props.tools.revert(props.file, props.hunk)}
                >
                  {en.review.revert}
                </Button>
              </Show>
            </Show>
          </>
        }
      >
        {(deed) => (
          <span class="review-doing" role="status">
            <span class="spinner" aria-hidden="true" />
            {deed() === 'revert' ? en.review.reverting : en.review.keeping}
          </span>
        )}
      </Show>
    </Show>
  );
}

/** The newest revert can be undone where it was done. */
export function UndoHere(props: { name: string }) {
  const app = useApp();
  const { judge } = app.review;
  return (
    <Show when={judge.newest() === props.name}>
      <Show when={judge.working('undo') === undefined} fallback={<span class="review-doing">{en.review.undoing}</span>}>
        <Button class="review-act" icon={Undo2} data-testid="undo-here" disabled={app.busy()} onClick={() => void judge.undo()}>
          {en.session.undo}
        </Button>
      </Show>
    </Show>
  );
}
