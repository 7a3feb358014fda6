import { createSignal, For } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { visibleLine } from '../text/visible';
import type { FileDiffView } from '../protocol';

interface FileNamesProps {
  readonly files: readonly FileDiffView[];
  readonly onShow: (file: FileDiffView) => void;
  readonly onTakeBack: (file: FileDiffView) => void;
}

/** The list of changed files. One tab stop; the arrow keys move through it. */
export function FileNames(props: FileNamesProps) {
  const [current, setCurrent] = createSignal<string | undefined>();
  const stop = () => props.files.find((file) => file.path === current())?.path ?? props.files[0]?.path;

  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const names = [...event.currentTarget.querySelectorAll<HTMLElement>('.review-file')];
    const at = names.findIndex((name) => name === document.activeElement);
    const file = props.files[at];
    if (!file) return;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next !== undefined) names[next]?.focus();
    else if (event.key === 'Delete' || event.key === 'Backspace') props.onTakeBack(file);
    else return;
    event.preventDefault();
  };

  return (
    <ul class="review-files" aria-label={en.review.files} onKeyDown={onKeyDown}>
      <For each={props.files}>
        {(file) => (
          <li>
            <button
              type="button"
              class="review-file"
              data-path={file.path}
              tabindex={stop() === file.path ? 0 : -1}
              onFocus={() => setCurrent(file.path)}
              onClick={() => props.onShow(file)}
            >
              <span class="review-file-name">{visibleLine(file.path)}</span>
              <Counts additions={file.additions} deletions={file.deletions} />
            </button>
          </li>
        )}
      </For>
    </ul>
  );
}
