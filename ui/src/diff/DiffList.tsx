/**
 * The files of a diff as one list of rows: unified or side by side, with syntax colours and marked words.
 *
 * A long diff is virtual: only the visible rows are in the DOM, and only their text is loaded. It knows
 * neither where the files come from nor which actions they have.
 */
import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid';
import { copyLines } from './copying';
import type { MenuItem } from '../kit/Menu';
import { offer } from '../kit/offers';
import { DiffRowView, FileRow, type RowSlots } from './DiffRowView';
import { createFolds, type Folds } from './folds';
import { keepFocus } from './keep-focus';
import { createWalk, type ChangeKeys, type DiffHandle } from './keyboard';
import type { DiffFile, DiffSource, Hunk, RowRange } from './model';
import { createRows, type Cell, type DiffRow, type Extra, type Tomb } from './rows';
import { keepInPlace, keyOf, topRow, type Rows } from './scroll';
import { createSelecting } from './selecting';
import './diff.css';

/** With more rows than this, only the visible ones are in the DOM. */
const FEW = 240;
const ROW_HEIGHT = 20;

export interface DiffListProps extends RowSlots {
  readonly files: readonly DiffFile[];
  readonly source: DiffSource;
  readonly sideBySide: boolean;
  readonly headers?: boolean;
  /** Long lines go on in the next row. */
  readonly wrap?: boolean;
  /** The folder that paths are relative to, if it is not the session's. */
  readonly root?: string;
  /** Fills its container and scrolls inside, even with few rows. */
  readonly fill?: boolean;
  readonly label: string;
  readonly folds?: Folds;
  readonly extras?: (path: string) => readonly Extra[] | undefined;
  readonly tombs?: (path: string) => readonly Tomb[] | undefined;
  readonly keys?: ChangeKeys;
  /** What the context menu of a file, or of one of its hunks, has. */
  readonly menu?: (file: DiffFile, hunk: Hunk | undefined) => readonly MenuItem[];
  readonly selection?: RowRange | undefined;
  readonly onSelect?: (range: RowRange | undefined) => void;
  /** The file at the top of what is visible. */
  readonly onCurrent?: (path: string | undefined) => void;
  readonly ref?: (handle: DiffHandle) => void;
}

export function DiffList(props: DiffListProps) {
  let scroller!: HTMLDivElement;
  const [plain, setPlain] = createSignal<HTMLElement | undefined>();
  let virtual: VirtualizerHandle | undefined;
  let hovered: string | undefined;
  const folds = props.folds ?? createFolds();
  const list = (): Rows => ({ scroller, rows: plain(), virtual });

  const make = createRows();
  const rows = createMemo(() =>
    make(
      props.files.map((file) => {
        const body = props.source.body(file);
        return { file, ...(body && { body }), folds: folds.of(file.path), extras: props.extras?.(file.path), tombs: props.tombs?.(file.path) };
      }),
      { sideBySide: props.sideBySide, headers: props.headers ?? false, pictures: props.pictures !== undefined },
    ),
  );
  // A new version of a file whose lines are shown is loaded at once, not when it comes into view.
  const drawn = new Set<string>();
  createEffect(() => {
    for (const file of props.files) {
      if (props.source.body(file)) drawn.add(file.path);
      else if (drawn.has(file.path) && !file.gone) props.source.load(file);
    }
  });
  // Once the list is virtual it stays so: a change would draw all rows anew.
  const many = createMemo<boolean>((before) => before || rows().length > FEW || expected(props.files) > FEW, false);

  const [top, setTop] = createSignal(0);
  /** The header of the file at the top, if it is scrolled away. */
  const sticky = createMemo(() => {
    if (props.headers !== true || top() === 0) return undefined;
    const at = rows()[Math.min(top(), rows().length - 1)];
    if (!at || at.kind === 'file') return undefined;
    const { file } = at;
    return { kind: 'file' as const, key: `sticky:${file.path}`, file, closed: false };
  });
  const onScroll = () => {
    const index = topRow(list());
    setTop(scroller.scrollTop > 0 ? index : 0);
    props.onCurrent?.(rows()[index]?.file.path);
  };

  const walk = createWalk({
    list,
    rows,
    folds,
    canOpen: () => props.source.context !== undefined || props.source.problem !== undefined,
    keys: () => props.keys,
  });
  props.ref?.(walk);
  keepFocus(rows, () => scroller && walk.remember(), walk.giveBack);
  keepInPlace({ list: () => (scroller ? list() : undefined), rows, hovered: () => hovered });

  const selecting = createSelecting({
    rows,
    scroller: () => scroller,
    selection: () => props.selection,
    select: () => props.onSelect,
  });
  const isSelected = (file: DiffFile, hunk: number, cell: Cell) => {
    const range = props.selection;
    return range !== undefined && range.path === file.path && range.hunk === hunk && cell.row >= range.from && cell.row <= range.to;
  };
  const onPointerOver = (event: PointerEvent) => {
    hovered = keyOf(event.target, scroller);
    selecting.onPointerOver(event);
  };
  const itemsAt = (at: Element): readonly MenuItem[] => {
    const key = keyOf(at, scroller);
    const row = key === sticky()?.key ? sticky() : rows().find((one) => one.key === key);
    if (!row || row.kind === 'tomb' || row.kind === 'extra') return [];
    const hunk = 'hunk' in row ? props.source.body(row.file)?.hunks[row.hunk] : undefined;
    return props.menu?.(row.file, hunk) ?? [];
  };
  onMount(() => offer(scroller, itemsAt));
  onMount(() => {
    const end = () => selecting.onPointerUp();
    window.addEventListener('pointerup', end);
    onCleanup(() => window.removeEventListener('pointerup', end));
  });

  const draw = (row: DiffRow) => (
    <DiffRowView
      row={row}
      source={props.source}
      folds={folds}
      root={props.root}
      sideBySide={props.sideBySide}
      isSelected={isSelected}
      actions={props.actions}
      tomb={props.tomb}
      extra={props.extra}
      pictures={props.pictures}
    />
  );
  return (
    <div
      class="line-list diff"
      data-many={many() ? '' : undefined}
      data-fill={props.fill ? '' : undefined}
      data-wrap={props.wrap === false ? 'off' : 'on'}
      data-selectable={props.onSelect ? '' : undefined}
      role="group"
      aria-label={props.label}
      tabindex="0"
      ref={scroller}
      onScroll={onScroll}
      onKeyDown={walk.onKeyDown}
      onPointerOver={onPointerOver}
      onPointerLeave={() => (hovered = undefined)}
      onPointerDown={selecting.onPointerDown}
      on:copy={copyLines}
    >
      <div class="diff-sticky">
        <Show when={sticky()} keyed>
          {(row) => (
            <FileRow
              row={row}
              source={props.source}
              folds={folds}
              root={props.root}
              sideBySide={props.sideBySide}
              isSelected={isSelected}
              actions={props.actions}
            />
          )}
        </Show>
      </div>
      <Show
        when={many()}
        fallback={
          <div class="diff-rows" ref={setPlain}>
            <For each={rows()}>{draw}</For>
          </div>
        }
      >
        <Virtualizer
          ref={(made) => (virtual = made)}
          data={rows()}
          itemSize={ROW_HEIGHT}
          bufferSize={400}
          scrollRef={scroller}
        >
          {draw}
        </Virtualizer>
      </Show>
      <Show when={props.fill}>
        <div class="diff-end" aria-hidden="true" />
      </Show>
    </div>
  );
}

function expected(files: readonly DiffFile[]): number {
  return files.reduce((sum, { additions, deletions, folded }) => sum + (folded === undefined ? additions + deletions + 8 : 2), 0);
}
