/** All files of the project as they were at a step: the tree, and the content of one. */
import ChevronRight from 'lucide-solid/icons/chevron-right';
import FileIcon from 'lucide-solid/icons/file';
import { createEffect, createMemo, createResource, createSignal, For, on, Show } from 'solid-js';
import { uiError } from '../host/host';
import { en } from '../i18n/en';
import { CodeLines } from '../kit/CodeLines';
import { FileLink } from '../kit/FileLink';
import type { Span, StepPlace, TreeEntryView } from '../protocol';
import { useApp } from '../store/context';
import { visible, visibleLine } from '../text/visible';
import './tree.css';

/** Lines of a file that are loaded at once. */
const LINES = 2000;

interface BrowserProps {
  readonly at: StepPlace;
  /** The folder that paths are relative to, if it is not the session's. */
  readonly root: string | undefined;
}

export function StepBrowser(props: BrowserProps) {
  const { steps } = useApp().review;
  let tree!: HTMLDivElement;
  const onKeyDown = (event: KeyboardEvent) => {
    const all = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')];
    const at = all.findIndex((one) => one === document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at === -1 || next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    all[next]?.focus();
  };
  return (
    <div class="review-body" data-testid="step-browser">
      <div class="review-tree">
        <div class="review-files" role="tree" aria-label={en.review.steps.browse} ref={tree} onKeyDown={onKeyDown}>
          <Folder at={props.at} path="" depth={0} />
        </div>
      </div>
      <div class="review-diff">
        <Show when={steps.file()} fallback={<p class="review-note">{en.review.steps.chooseFile}</p>}>
          {(path) => <Content at={props.at} path={path()} root={props.root} />}
        </Show>
      </div>
    </div>
  );
}

function Folder(props: { at: StepPlace; path: string; depth: number }) {
  const app = useApp();
  const [listed] = createResource(
    () => ({ at: props.at, path: props.path }),
    async ({ at, path }) => {
      const id = app.selected();
      return id === undefined ? [] : app.host.stepTree(id, at, path).catch((error: unknown) => uiError(error).message);
    },
  );
  const problem = () => (typeof listed.latest === 'string' ? listed.latest : undefined);
  // Rows keep their elements, and folders stay open, while one goes from step to step.
  const entries = createMemo<readonly TreeEntryView[]>((before) => {
    const now = listed.latest;
    if (typeof now !== 'object') return now === undefined ? before : [];
    const known = new Map(before.map((entry) => [`${entry.folder} ${entry.path}`, entry]));
    return now.map((entry) => known.get(`${entry.folder} ${entry.path}`) ?? entry);
  }, []);
  return (
    <>
      <Show when={problem()}>
        {(why) => (
          <p class="review-note" role="alert">
            {visible(why())}
          </p>
        )}
      </Show>
      <Show when={listed.latest === undefined}>
        <p class="review-note" role="status">
          <span class="spinner" aria-hidden="true" /> {en.review.steps.folder}
        </p>
      </Show>
      <For each={entries()}>
        {(entry, index) => <Entry at={props.at} entry={entry} depth={props.depth} first={props.depth === 0 && index() === 0} />}
      </For>
    </>
  );
}

function Entry(props: { at: StepPlace; entry: TreeEntryView; depth: number; first: boolean }) {
  const { steps } = useApp().review;
  const [open, setOpen] = createSignal(false);
  const current = () => !props.entry.folder && steps.file() === props.entry.path;
  const run = () => (props.entry.folder ? setOpen(!open()) : steps.setFile(props.entry.path));
  const onKeyDown = (event: KeyboardEvent) => {
    const turns = props.entry.folder && event.key === (open() ? 'ArrowLeft' : 'ArrowRight');
    if (event.key !== 'Enter' && event.key !== ' ' && !turns) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  return (
    <>
      <div
        class={props.entry.folder ? 'review-folder' : 'review-file'}
        role="treeitem"
        aria-level={props.depth + 1}
        aria-expanded={props.entry.folder ? open() : undefined}
        aria-current={current() ? 'true' : undefined}
        data-path={props.entry.path}
        tabindex={props.first || current() ? 0 : -1}
        ref={(element) => createEffect(() => element.style.setProperty('--depth', `${props.depth}`))}
        onClick={run}
        onKeyDown={onKeyDown}
      >
        <Show when={props.entry.folder} fallback={<FileIcon size={12} aria-hidden="true" />}>
          <ChevronRight class="chevron" size={12} aria-hidden="true" />
        </Show>
        <span class={props.entry.folder ? undefined : 'review-file-name'}>
          <bdi>{visibleLine(props.entry.name)}</bdi>
        </span>
      </div>
      <Show when={open()}>
        <Folder at={props.at} path={props.entry.path} depth={props.depth + 1} />
      </Show>
    </>
  );
}

function Content(props: { at: StepPlace; path: string; root: string | undefined }) {
  const app = useApp();
  const { steps } = app.review;
  const [wanted, setWanted] = createSignal(LINES);
  createEffect(on(() => props.path, () => setWanted(LINES), { defer: true }));
  const [loaded] = createResource(
    () => ({ at: props.at, path: props.path, count: wanted() }),
    async ({ at, path, count }): Promise<readonly (readonly Span[])[] | string> => {
      const id = app.selected();
      if (id === undefined) return [];
      const lines: (readonly Span[])[] = [];
      try {
        for (let from = 1; from <= count; from += LINES) {
          const some = await app.host.stepFile(id, at, path, { from, to: from + LINES - 1 });
          lines.push(...some.map(({ spans }) => spans));
          if (some.length < LINES) break;
        }
      } catch (error) {
        const { code, message } = uiError(error);
        return code === 'not-found' ? en.review.steps.absent : message;
      }
      return lines;
    },
  );
  const lines = () => (typeof loaded.latest === 'object' ? loaded.latest : undefined);
  const problem = () => (typeof loaded.latest === 'string' ? loaded.latest : undefined);
  const label = () => en.review.steps.fileAt(visibleLine(props.path), (steps.at() ?? 0) + 1);
  const place = () => (props.root === undefined ? props.path : `${props.root}/${props.path}`);
  return (
    <div class="step-file" data-testid="step-file" aria-busy={loaded.loading}>
      <div class="diff-file">
        <span class="diff-file-name">
          <FileLink path={place()} label={props.path} />
        </span>
      </div>
      <Show when={problem()}>
        {(why) => (
          <p class="review-note" role="status">
            {visible(why())}
          </p>
        )}
      </Show>
      <Show when={lines()?.length === 0}>
        <p class="review-note">{en.review.steps.empty}</p>
      </Show>
      <Show when={(lines()?.length ?? 0) > 0 && lines()}>{(shown) => <CodeLines lines={shown()} first={1} label={label()} />}</Show>
      <Show when={lines()?.length === wanted()}>
        <button type="button" class="diff-gap" onClick={() => setWanted(wanted() + LINES)}>
          {en.review.steps.more}
        </button>
      </Show>
    </div>
  );
}
