import FileDiff from 'lucide-solid/icons/file-diff';
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { relativePath } from '../text/format';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { turnOf } from '../store/turns';
import type { PartProps } from './registry';

const NAMED = 3;

/** The files that a step changed, with links to the review. */
export function PatchPart(props: PartProps<'patch'>) {
  const app = useApp();
  const files = () => props.part.files.map((file) => relativePath(file, app.session()?.directory));
  return (
    <Show when={props.part.files.length > 0}>
      <button
        type="button"
        class="patch-line"
        data-testid="open-review"
        title={files().map(visibleLine).join('\n')}
        onClick={() => app.review.open({ turnID: turnOf(props.message), path: files()[0] })}
      >
        <FileDiff size={13} aria-hidden="true" />
        <span>{en.part.patch(files().length)}</span>
        <For each={files().slice(0, NAMED)}>{(file) => <code>{visibleLine(file)}</code>}</For>
        <Show when={files().length > NAMED}>
          <span>+{files().length - NAMED}</span>
        </Show>
        <span class="patch-review">{en.part.openReview}</span>
      </button>
    </Show>
  );
}
