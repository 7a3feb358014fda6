/** Draws one row of a diff. */
import ChevronRight from 'lucide-solid/icons/chevron-right';
import CircleCheck from 'lucide-solid/icons/circle-check';
import UnfoldVertical from 'lucide-solid/icons/unfold-vertical';
import { createEffect, Match, onMount, Show, Switch, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import { FileLink } from '../kit/FileLink';
import { visible, visibleLine } from '../text/visible';
import { Counts } from './Counts';
import { PairedLines, SameLine, UnifiedLine } from './DiffLine';
import type { Folds } from './folds';
import type { DiffFile, DiffSource, Hunk } from './model';
import { GAP_STEP, type Cell, type DiffRow, type Extra, type Gap, type Tomb } from './rows';

/** What the place that shows a diff adds to its rows. */
export interface RowSlots {
  /** The buttons of a file, or of a hunk. */
  readonly actions?: (file: DiffFile, hunk: Hunk | undefined) => JSX.Element;
  readonly tomb?: (file: DiffFile, tomb: Tomb) => JSX.Element;
  readonly extra?: (file: DiffFile, extra: Extra) => JSX.Element;
  readonly pictures?: (file: DiffFile) => JSX.Element;
}

export interface RowProps extends RowSlots {
  readonly row: DiffRow;
  readonly source: DiffSource;
  readonly folds: Folds;
  readonly root?: string;
  readonly sideBySide: boolean;
  readonly isSelected: (file: DiffFile, hunk: number, cell: Cell) => boolean;
}

type RowOf<K extends DiffRow['kind']> = Extract<DiffRow, { kind: K }>;
type Of<K extends DiffRow['kind']> = Omit<RowProps, 'row'> & { readonly row: RowOf<K> };

export function DiffRowView(props: RowProps) {
  const as = <K extends DiffRow['kind']>(kind: K) => (props.row.kind === kind ? (props.row as RowOf<K>) : undefined);
  const selected = (row: RowOf<'line' | 'pair'>, cell: Cell) => props.isSelected(row.file, row.hunk, cell);
  return (
    <Switch>
      <Match when={as('line')}>
        {(row) => (
          <UnifiedLine
            row={row().key}
            cell={row().cell}
            text={props.source.line(row().file, row().hunk, row().cell.row)}
            selected={selected(row(), row().cell)}
          />
        )}
      </Match>
      <Match when={as('pair')}>
        {(row) => {
          const text = (cell: Cell | undefined) => cell && props.source.line(row().file, row().hunk, cell.row);
          return (
            <PairedLines
              row={row().key}
              before={row().before}
              after={row().after}
              oldText={text(row().before)}
              newText={text(row().after)}
              selected={(cell) => selected(row(), cell)}
            />
          );
        }}
      </Match>
      <Match when={as('same')}>
        {(row) => (
          <SameLine
            row={row().key}
            old={row().old}
            new={row().new}
            text={props.source.context?.(row().file, row().new)}
            paired={props.sideBySide}
          />
        )}
      </Match>
      <Match when={as('file')}>{(row) => <FileRow {...props} row={row()} />}</Match>
      <Match when={as('hunk')}>{(row) => <HunkRow {...props} row={row()} />}</Match>
      <Match when={as('rest')}>
        {(row) => (
          <div class="diff-hunk" data-row={row().key}>
            <GapButtons {...props} file={row().file} gap={row().gap} />
          </div>
        )}
      </Match>
      <Match when={as('note')}>{(row) => <NoteRow {...props} row={row()} />}</Match>
      <Match when={as('loading')}>{(row) => <LoadingRow {...props} row={row()} />}</Match>
      <Match when={as('tomb')}>
        {(row) => (
          <div class="diff-hunk" tabindex="-1" role="group" data-row={row().key} data-tomb>
            <span class="diff-gone">{en.diff.reverted(row().tomb.lines)}</span>
            <span class="diff-actions">{props.tomb?.(row().file, row().tomb)}</span>
          </div>
        )}
      </Match>
      <Match when={as('extra')}>
        {(row) => (
          <div class="diff-extra" data-row={row().key}>
            {props.extra?.(row().file, row().extra)}
          </div>
        )}
      </Match>
    </Switch>
  );
}

export function FileRow(props: Of<'file'>) {
  const file = () => props.row.file;
  const place = () => (props.root === undefined ? file().path : `${props.root}/${file().path}`);
  return (
    <div
      class="diff-file"
      tabindex="-1"
      role="group"
      aria-label={en.diff.file(visibleLine(file().path))}
      data-row={props.row.key}
      data-file={file().path}
      data-status={file().status}
      data-gone={file().gone ? '' : undefined}
      data-kept={file().kept}
    >
      <button
        type="button"
        class="diff-file-toggle"
        aria-expanded={!props.row.closed}
        aria-label={(props.row.closed ? en.diff.open : en.diff.close)(visibleLine(file().path))}
        disabled={file().gone}
        onClick={() => props.folds.toggle(file())}
      >
        <ChevronRight class="chevron" size={14} aria-hidden="true" />
      </button>
      <span class="diff-file-name">
        <Show when={file().oldPath}>
          {(old) => (
            <>
              <span class="diff-old-path" title={visibleLine(old())}>
                <bdi>{visibleLine(old())}</bdi>
              </span>
              <span class="diff-arrow"> → </span>
            </>
          )}
        </Show>
        <FileLink path={place()} label={file().path} />
      </span>
      <Show when={file().oldMode !== undefined && file().mode !== undefined}>
        <span class="diff-status" title={en.diff.notes.mode}>
          {file().oldMode} → {file().mode}
        </span>
      </Show>
      <Show when={file().status !== 'modified'}>
        <span class="diff-status" data-status={file().status}>
          {en.diff.status[file().status]}
        </span>
      </Show>
      <Show when={file().edited}>
        <span class="diff-status" data-status="edited" title={en.diff.editedTitle}>
          {en.diff.edited}
        </span>
      </Show>
      <Show when={file().doubt}>
        {(doubt) => (
          <span class="diff-status" data-status="doubt" title={en.diff.doubts[doubt()]}>
            {en.diff.doubt}
          </span>
        )}
      </Show>
      <Counts additions={file().additions} deletions={file().deletions} />
      <span class="diff-actions">{props.actions?.(file(), undefined)}</span>
    </div>
  );
}

function HunkRow(props: Of<'hunk'>) {
  const hunk = () => props.row.info;
  const label = () => en.diff.hunk(props.row.hunk + 1, props.source.body(props.row.file)?.hunks.length ?? 1);
  const changed = () => hunk().runs.reduce((sum, run) => sum + (run.kind === 'context' ? 0 : run.lines), 0);
  return (
    <div
      class="diff-hunk"
      tabindex="-1"
      role="group"
      aria-label={label()}
      data-row={props.row.key}
      data-hunk={props.row.hunk}
      data-closed={props.row.closed ? '' : undefined}
      data-kept={hunk().kept}
      data-quiet={props.row.gap.hidden === 0 && !props.actions ? '' : undefined}
    >
      <GapButtons {...props} file={props.row.file} gap={props.row.gap} />
      <Show when={hunk().kept === 'all'}>
        <button
          type="button"
          class="diff-kept"
          aria-expanded={!props.row.closed}
          onClick={() => props.folds.toggleHunk(props.row.file, hunk())}
        >
          <CircleCheck size={12} aria-hidden="true" />
          {en.diff.kept(changed())}
        </button>
      </Show>
      <span class="diff-heading">{visible(hunk().heading ?? '')}</span>
      <span class="diff-actions">{props.actions?.(props.row.file, hunk())}</span>
    </div>
  );
}

function GapButtons(props: Pick<RowProps, 'source' | 'folds'> & { file: DiffFile; gap: Gap }) {
  const { folds } = props;
  const hidden = () => props.gap.hidden;
  const words = () => {
    const lines = hidden();
    return lines === undefined ? en.diff.rest : en.diff.gap(lines);
  };
  const show = (lines: number) => folds.open(props.file.path, props.gap.id, lines);
  /** Not worth a second click. */
  const few = () => (hidden() ?? 0) <= 2 * GAP_STEP;
  return (
    <Show when={hidden() !== 0}>
      <Show when={props.source.context} fallback={<span class="diff-gap">{words()}</span>}>
        <Show when={!few()}>
          <button type="button" class="diff-gap" data-gap="step" onClick={() => show(GAP_STEP)}>
            {en.diff.gapStep(GAP_STEP)}
          </button>
        </Show>
        <button type="button" class="diff-gap" data-gap="all" onClick={() => show(Number.MAX_SAFE_INTEGER)}>
          <UnfoldVertical size={12} aria-hidden="true" />
          {words()}
        </button>
      </Show>
    </Show>
  );
}

function NoteRow(props: Of<'note'>) {
  const words = () => {
    const { file, note } = props.row;
    if (note === 'picture') return '';
    if (note === 'folded') return en.diff.folded[file.folded ?? 'tooLong'];
    if (note === 'renamed') return en.diff.renamed(visibleLine(file.oldPath ?? ''), visibleLine(file.path));
    return en.diff.notes[note];
  };
  return (
    <div class="diff-note" tabindex="-1" data-row={props.row.key} data-note={props.row.note}>
      <Show when={props.row.note === 'picture'} fallback={<span>{words()}</span>}>
        {props.pictures?.(props.row.file)}
      </Show>
      <Show when={props.row.note === 'folded' && (props.source.context || props.source.problem)}>
        <button type="button" class="diff-gap" onClick={() => props.folds.unfold(props.row.file.path)}>
          {en.diff.showAnyway(props.row.file.additions + props.row.file.deletions)}
        </button>
      </Show>
    </div>
  );
}

/** As high as the rows that will take its place. It asks for them when it comes into view. */
function LoadingRow(props: Of<'loading'>) {
  onMount(() => createEffect(() => props.source.load(props.row.file)));
  return (
    <div
      class="diff-loading"
      data-row={props.row.key}
      ref={(row) => createEffect(() => (row.style.height = `${Math.min(MOST, props.row.lines * LINE)}px`))}
    >
      <Show when={props.source.problem?.(props.row.file)} fallback={<span>{en.diff.loading}</span>}>
        {(problem) => <span role="alert">{visible(problem())}</span>}
      </Show>
    </div>
  );
}

const LINE = 20;
/** An element cannot be as high as a very long file. */
const MOST = 400_000;
