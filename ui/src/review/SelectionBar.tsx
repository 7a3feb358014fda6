/** What can be done with the selected lines. It lies over the end of the list, so that no row moves. */
import Check from 'lucide-solid/icons/check';
import MessageSquarePlus from 'lucide-solid/icons/message-square-plus';
import SquarePen from 'lucide-solid/icons/square-pen';
import Undo2 from 'lucide-solid/icons/undo-2';
import X from 'lucide-solid/icons/x';
import { Show } from 'solid-js';
import { commentPlace, type Hunk, type RowRange } from '../diff/model';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { useApp } from '../store/context';
import type { ReviewFile } from '../protocol';
import { rangeSpot } from './spots';
import type { ReviewTools } from './tools';

interface SelectionProps {
  readonly file: ReviewFile;
  readonly range: RowRange;
  readonly hunk: Hunk;
  readonly tools: ReviewTools;
  readonly onDone: () => void;
}

export function SelectionBar(props: SelectionProps) {
  const { judge } = useApp().review;
  const place = () => commentPlace(props.range, props.hunk);
  const then = (work: () => void) => () => {
    work();
    props.onDone();
  };
  return (
    <div class="selection-bar" role="toolbar" aria-label={en.review.selected} data-testid="selection-bar">
      <span>{en.review.lines(place().from, place().to)}</span>
      <Show when={props.tools.canKeep() && judge.working(rangeSpot(props.range, props.hunk).key) === undefined}>
        <Button class="review-act" icon={Check} data-testid="keep-lines" onClick={then(() => props.tools.keepRange(props.range, props.hunk))}>
          {en.review.keep}
        </Button>
        <Button class="review-act" icon={Undo2} data-testid="revert-lines" disabled={!props.tools.canRevert()} onClick={then(() => props.tools.revertRange(props.range, props.hunk))}>
          {en.review.revert}
        </Button>
        <Button class="review-act" icon={MessageSquarePlus} data-testid="comment-lines" onClick={then(() => props.tools.commentRange(props.range, props.hunk))}>
          {en.review.comment.add}
        </Button>
      </Show>
      <IconButton class="selection-edit" icon={SquarePen} size={14} label={en.review.openFile} onClick={() => props.tools.edit(props.file, place().from)} />
      <IconButton icon={X} size={14} label={en.review.clearSelection} onClick={() => props.onDone()} />
    </div>
  );
}
