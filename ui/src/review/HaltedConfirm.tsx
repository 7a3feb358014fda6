/** An undo or redo that met files which were changed since: both sides, and a choice for each. */
import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import { createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import type { RevertChoice } from '../protocol';
import { useApp } from '../store/context';
import type { Halted } from '../store/review/judge';
import { visible, visibleLine } from '../text/visible';
import { LeftFile } from './LeftFile';
import './decide.css';

export function HaltedConfirm(props: { halted: Halted; giveBack: () => void }) {
  const { judge } = useApp().review;
  const { halted: words } = en.review;
  const [choices, setChoices] = createSignal<Readonly<Record<string, RevertChoice>>>({});
  let cancel!: HTMLButtonElement;
  const decided = () => props.halted.files.every(({ path }) => choices()[path] !== undefined);
  onMount(() => {
    cancel.focus();
    onCleanup(() => props.giveBack());
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    judge.cancel();
  };
  return (
    <section class="review-confirm" data-testid="halted-confirm" aria-label={words.title} onKeyDown={onKeyDown}>
      <h3>{words.title}</h3>
      <ul>
        <For each={props.halted.files}>
          {(file) => (
            <li class="review-effect" data-change={file.change}>
              <TriangleAlert size={13} aria-hidden="true" />
              <code>{visibleLine(file.path)}</code>
              <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
              <LeftFile
                file={file}
                names={words[props.halted.deed]}
                choice={choices()[file.path]}
                onChoose={(choice) => setChoices((now) => ({ ...now, [file.path]: choice }))}
              />
            </li>
          )}
        </For>
      </ul>
      <div class="card-actions">
        <Button tone="primary" data-testid="settle-halted" disabled={!decided()} onClick={() => void judge.settle(choices())}>
          {words.apply[props.halted.deed]}
        </Button>
        <Button ref={cancel} onClick={() => judge.cancel()}>
          {en.review.cancel}
        </Button>
      </div>
    </section>
  );
}
