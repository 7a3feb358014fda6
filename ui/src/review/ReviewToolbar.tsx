/** The head of the review: what is shown, undo and redo, how it is shown. */
import Check from 'lucide-solid/icons/check';
import Columns2 from 'lucide-solid/icons/columns-2';
import ListTree from 'lucide-solid/icons/list-tree';
import Pilcrow from 'lucide-solid/icons/pilcrow';
import Redo2 from 'lucide-solid/icons/redo-2';
import Rows2 from 'lucide-solid/icons/rows-2';
import Settings2 from 'lucide-solid/icons/settings-2';
import Undo2 from 'lucide-solid/icons/undo-2';
import WrapText from 'lucide-solid/icons/text-wrap';
import X from 'lucide-solid/icons/x';
import { Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { keyName } from '../kit/keys';
import { Menu, type MenuItem } from '../kit/Menu';
import type { ReviewAction, ReviewFile } from '../protocol';
import { useApp } from '../store/context';
import { baseName } from '../text/format';
import { visibleLine } from '../text/visible';
import { ScopePicker } from './ScopePicker';
import { ALL, shownSpot } from './spots';
import type { ReviewTools } from './tools';

/** The width that the pane gets for two columns of code. */
const WIDE = 620;

interface ToolbarProps {
  readonly files: readonly ReviewFile[];
  readonly tools: ReviewTools;
  /** It covers the timeline, in which something waits for the person. */
  readonly waits: boolean;
  readonly onUndo: () => void;
  readonly onRedo: () => void;
}

export function ReviewToolbar(props: ToolbarProps) {
  const app = useApp();
  const { review } = app;
  const sum = (key: 'additions' | 'deletions') => props.files.reduce((all, file) => all + file[key], 0);
  const undoable = () => review.files.found()?.undo;
  const redoable = () => review.files.found()?.redo;
  const options = (): MenuItem[] => {
    const { wrap, ignoreWhitespace, tree } = review.view.state;
    const { sideBySide } = app.settings.review;
    return [
      {
        label: sideBySide ? en.diff.unified : en.diff.sideBySide,
        icon: sideBySide ? Rows2 : Columns2,
        run: () => app.setReview({ sideBySide: !sideBySide, width: sideBySide ? app.settings.review.width : Math.max(app.settings.review.width, WIDE) }),
      },
      { label: wrap ? en.review.noWrap : en.review.wrap, icon: WrapText, run: () => review.view.set({ wrap: !wrap }) },
      {
        label: ignoreWhitespace ? en.review.showWhitespace : en.review.hideWhitespace,
        icon: Pilcrow,
        run: () => review.view.set({ ignoreWhitespace: !ignoreWhitespace }),
      },
      { label: tree ? en.review.hideFiles : en.review.showFiles, icon: ListTree, run: () => review.view.set({ tree: !tree }) },
      ...(props.tools.canKeep() && props.files.length > 0
        ? [{ label: en.review.keepAll, icon: Check, run: () => void review.judge.keep(shownSpot(props.files)) }]
        : []),
      ...(props.tools.canRevert() && props.files.length > 0
        ? [{ label: en.review.revertAll, icon: Undo2, tone: 'danger' as const, run: () => void review.judge.revert(ALL) }]
        : []),
    ];
  };
  return (
    <header class="review-head">
      <ScopePicker />
      <Show when={props.files.length > 0}>
        <span class="review-sum">
          <span class="review-sum-files">{en.part.changed(props.files.length)} </span>
          <Counts additions={sum('additions')} deletions={sum('deletions')} />
        </span>
      </Show>
      <span class="review-space" />
      <Show when={props.waits}>
        <Button class="review-waiting" data-testid="review-waiting" onClick={() => review.close()}>
          {en.timeline.asking}
        </Button>
      </Show>
      <IconButton
        icon={Undo2}
        label={labelOf(undoable(), en.review.undoLast) ?? en.session.undo}
        keys={keyName('Z')}
        data-testid="review-undo"
        disabled={app.busy() || (undoable() === undefined && !review.canUndo())}
        onClick={props.onUndo}
      />
      <IconButton
        icon={Redo2}
        label={labelOf(redoable(), en.review.redoLast) ?? en.review.redo}
        keys={keyName('⇧Z')}
        data-testid="review-redo"
        disabled={app.busy() || redoable() === undefined}
        onClick={props.onRedo}
      />
      <Menu label={en.review.options} items={options()} class="review-options">
        <Settings2 size={15} aria-hidden="true" />
      </Menu>
      <IconButton icon={X} label={en.review.close} data-testid="close-review" onClick={() => review.close()} />
    </header>
  );
}

function labelOf(action: ReviewAction | undefined, say: (what: string) => string): string | undefined {
  if (!action) return undefined;
  const [first, ...more] = action.files;
  const names = first === undefined ? '' : ` ${visibleLine(baseName(first))}${more.length > 0 ? ` +${more.length}` : ''}`;
  return say(`${en.review.deeds[action.kind]}${names}`);
}
