/** The changed files as a tree, with their status, counts and viewed marks. One tab stop; arrow keys move through it. */
import ChevronRight from 'lucide-solid/icons/chevron-right';
import MessageSquare from 'lucide-solid/icons/message-square';
import { createComputed, createEffect, createMemo, createSignal, For, on, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import type { MenuItem } from '../kit/Menu';
import { offer } from '../kit/offers';
import type { ReviewComment, ReviewFile } from '../protocol';
import { visibleLine } from '../text/visible';
import { treeRows, type TreeRow } from './tree';
import './tree.css';

interface FileTreeProps {
  readonly files: readonly ReviewFile[];
  /** Whether a file was reverted a moment ago, and nothing of it is left. */
  readonly isGone: (path: string) => boolean;
  readonly comments: readonly ReviewComment[];
  /** The file at the top of the diff. */
  readonly current: string | undefined;
  readonly onShow: (file: ReviewFile) => void;
  readonly onKeep: (file: ReviewFile) => void;
  readonly onRevert: (file: ReviewFile) => void;
  readonly onEdit: (file: ReviewFile) => void;
  readonly onViewed: (file: ReviewFile, viewed: boolean) => void;
  /** What else can be done with a file, for its context menu. */
  readonly menu: (file: ReviewFile) => readonly MenuItem[];
}

const LETTERS: Readonly<Record<ReviewFile['status'], string>> = {
  added: 'A',
  deleted: 'D',
  modified: 'M',
  renamed: 'R',
  binary: 'B',
  mode: 'X',
};

export function FileTree(props: FileTreeProps) {
  let list!: HTMLDivElement;
  const [words, setWords] = createSignal('');
  const [closed, setClosed] = createSignal<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = createSignal<string | undefined>();
  const found = createMemo(() => {
    const wanted = words().trim().toLowerCase();
    return wanted === '' ? props.files : props.files.filter(({ path }) => path.toLowerCase().includes(wanted));
  });
  // Rows keep their elements while the files behind them change.
  const rows = createMemo(() => treeRows(found(), words().trim() === '' ? closed() : new Set<string>()));
  const keys = createMemo(() => rows().map(({ key }) => key), undefined, { equals: (a, b) => a.join('\n') === b.join('\n') });
  const byKey = createMemo(() => new Map(rows().map((row) => [row.key, row])));
  const stop = () => (byKey().has(focused() ?? '') ? focused() : keys()[0]);
  const seen = () => props.files.filter(({ viewed }) => viewed).length;
  const commentsOn = (path: string) => props.comments.filter((one) => one.path === path && one.state === 'open').length;
  const toggle = (key: string) =>
    setClosed((now) => {
      const next = new Set(now);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  // Files that come and go above do not move the row under the pointer, or the first one in sight.
  let hovered: string | undefined;
  let anchor: { readonly key: string; readonly top: number } | undefined;
  const drawn = () => [...(list?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? [])];
  const topOf = (row: HTMLElement) => row.getBoundingClientRect().top;
  createComputed(
    on(keys, (now) => {
      const there = new Set(now);
      const still = drawn().filter((row) => there.has(row.dataset.key ?? ''));
      const row = still.find((one) => one.dataset.key === hovered) ?? still.find((one) => topOf(one) >= topOf(list));
      anchor = row && { key: row.dataset.key ?? '', top: topOf(row) };
    }),
  );
  createEffect(
    on(keys, () => {
      const row = drawn().find((one) => one.dataset.key === anchor?.key);
      if (row && anchor) list.scrollTop += topOf(row) - anchor.top;
    }),
  );
  // The current file stays in sight, but the focus is not moved, nor rows under the pointer.
  createEffect(
    on([() => props.current, keys], ([path], before) => {
      const used = list.matches(':hover') || list.contains(document.activeElement);
      if (path === before?.[0] && used) return;
      const row = [...list.querySelectorAll<HTMLElement>('.review-file')].find((one) => one.dataset.path === path);
      row?.scrollIntoView?.({ block: 'nearest' });
    }),
  );

  const act = (row: TreeRow | undefined, key: string): boolean => {
    if (!row) return false;
    if (row.file === undefined) {
      if (key === 'Enter' || key === ' ' || key === (row.open ? 'ArrowLeft' : 'ArrowRight')) toggle(row.key);
      else return false;
      return true;
    }
    if (key === 'Enter') props.onShow(row.file);
    else if (key === ' ' || key === 'v') props.onViewed(row.file, !row.file.viewed);
    else if (key === 'k') props.onKeep(row.file);
    else if (key === 'o') props.onEdit(row.file);
    else if (key === 'Delete' || key === 'Backspace') props.onRevert(row.file);
    else return false;
    return true;
  };
  const itemsAt = (at: Element): readonly MenuItem[] => {
    const row = byKey().get(at.closest<HTMLElement>('[role=treeitem]')?.dataset.key ?? '');
    const file = row?.file;
    if (!row) return [];
    if (!file) return [{ label: row.open ? en.menu.collapse : en.menu.expand, run: () => toggle(row.key) }];
    const viewed = file.viewed ? en.menu.markNotViewed : en.menu.markViewed;
    return [...props.menu(file), { label: viewed, keys: 'V', run: () => props.onViewed(file, !file.viewed) }];
  };
  const onPointerOver = (event: PointerEvent) => {
    hovered = (event.target as Element).closest<HTMLElement>('[role=treeitem]')?.dataset.key;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [...list.querySelectorAll<HTMLElement>('[role=treeitem]')];
    const at = all.findIndex((one) => one === document.activeElement);
    if (at === -1) return;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) all[next]?.focus();
    else if (!act(byKey().get(all[at]?.dataset.key ?? ''), event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="review-tree">
      <div class="review-tree-head">
        <input
          type="search"
          class="field"
          placeholder={en.review.filter}
          aria-label={en.review.filter}
          data-testid="review-filter"
          value={words()}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <span class="review-seen">{en.review.viewed(seen(), props.files.length)}</span>
      </div>
      <div class="review-files" role="tree" aria-label={en.review.files} ref={(element) => ((list = element), offer(element, itemsAt))} onKeyDown={onKeyDown} onPointerOver={onPointerOver} onPointerLeave={() => (hovered = undefined)}>
        <For each={keys()} fallback={<p class="review-note">{en.review.noMatch}</p>}>
          {(key) => {
            const row = () => byKey().get(key);
            return (
              <Show
                when={row()?.file}
                fallback={
                  <FolderRow
                    row={row()}
                    stop={stop() === key}
                    onFocus={() => setFocused(key)}
                    onToggle={() => toggle(key)}
                  />
                }
              >
                {(file) => (
                  <div
                    class="review-file"
                    role="treeitem"
                    aria-level={(row()?.depth ?? 0) + 1}
                    aria-current={props.current === key ? 'true' : undefined}
                    data-key={key}
                    data-path={file().path}
                    data-status={file().status}
                    data-viewed={file().viewed ? '' : undefined}
                    data-kept={file().kept}
                    data-gone={props.isGone(file().path) ? '' : undefined}
                    tabindex={stop() === key ? 0 : -1}
                    title={visibleLine(file().path)}
                    ref={(element) => createEffect(() => element.style.setProperty('--depth', `${row()?.depth ?? 0}`))}
                    onFocus={() => setFocused(key)}
                    onClick={() => props.onShow(file())}
                  >
                    <span class="review-letter" data-status={file().status} title={en.diff.status[file().status]} role="img" aria-label={en.diff.status[file().status]}>
                      {LETTERS[file().status]}
                    </span>
                    <span class="review-file-name">{visibleLine(row()?.name ?? '')}</span>
                    <Show when={commentsOn(file().path) > 0}>
                      <span class="review-file-comments" role="img" aria-label={en.review.comment.open(commentsOn(file().path))}>
                        <MessageSquare size={11} aria-hidden="true" />
                        {commentsOn(file().path)}
                      </span>
                    </Show>
                    <Counts additions={file().additions} deletions={file().deletions} />
                    <input
                      type="checkbox"
                      class="review-viewed"
                      tabindex="-1"
                      aria-label={en.review.viewedFile(visibleLine(file().path))}
                      title={en.review.viewedFile(visibleLine(file().path))}
                      checked={file().viewed}
                      onClick={(event) => event.stopPropagation()}
                      onChange={(event) => props.onViewed(file(), event.currentTarget.checked)}
                    />
                  </div>
                )}
              </Show>
            );
          }}
        </For>
      </div>
    </div>
  );
}

function FolderRow(props: { row: TreeRow | undefined; stop: boolean; onFocus: () => void; onToggle: () => void }) {
  return (
    <div
      class="review-folder"
      role="treeitem"
      aria-level={(props.row?.depth ?? 0) + 1}
      aria-expanded={props.row?.open ?? true}
      data-key={props.row?.key}
      tabindex={props.stop ? 0 : -1}
      ref={(element) => createEffect(() => element.style.setProperty('--depth', `${props.row?.depth ?? 0}`))}
      onFocus={props.onFocus}
      onClick={props.onToggle}
    >
      <ChevronRight class="chevron" size={12} aria-hidden="true" />
      <span title={visibleLine(props.row?.name ?? '')}>
        <bdi>{visibleLine(props.row?.name ?? '')}</bdi>
      </span>
    </div>
  );
}
