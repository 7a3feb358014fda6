import { createEffect, createSignal, on, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { countdown } from '../text/format';
import { visible } from '../text/visible';
import { createCountdown } from '../parts/countdown';
import { useApp } from '../store/context';

/** The status line below the timeline. */
export function Working() {
  const app = useApp();
  const [said, setSaid] = createSignal('');

  createEffect(
    on(
      app.busy,
      (busy, before) => {
        if (busy) setSaid(en.timeline.working);
        else if (before) setSaid(outcome());
      },
      { defer: true },
    ),
  );
  const outcome = () => {
    const last = app.timeline.open()?.messages.at(-1)?.info;
    if (last?.role !== 'assistant' || !last.error) return en.timeline.finished;
    return last.error.name === 'MessageAbortedError' ? en.timeline.stopped : en.timeline.failed;
  };

  return (
    <div class="working" data-busy={app.busy() ? '' : undefined}>
      <Show when={app.busy() && !told()}>
        <Show when={!asking()}>
          <span class="spinner" aria-hidden="true" />
        </Show>
        <Show
          when={retry()}
          fallback={<span aria-hidden="true">{asking() ? en.timeline.asking : en.timeline.working}</span>}
        >
          {(status) => (
            <>
              <Countdown attempt={status().attempt} message={status().message} next={status().next} />
              <Button class="working-now" onClick={tryNow}>
                {en.timeline.tryNow}
              </Button>
            </>
          )}
        </Show>
      </Show>
      <span class="visually-hidden" role="status" aria-live="polite">
        {said()}
      </span>
    </div>
  );

  function asking() {
    const { permissions, questions } = app.requests();
    return permissions.length + questions.length > 0;
  }

  function tryNow() {
    const id = app.selected();
    if (id !== undefined) void app.attempt(() => app.host.retryNow(id));
  }

  /** The failed attempt is shown as a part, which has its own countdown. */
  function told() {
    return retry() !== undefined && app.timeline.open()?.messages.at(-1)?.parts.at(-1)?.part.type === 'retry';
  }

  function retry() {
    const status = app.status();
    return status.type === 'retry' ? status : undefined;
  }
}

function Countdown(props: { attempt: number; message: string; next: number }) {
  const seconds = createCountdown(() => props.next);
  return (
    <span class="working-retry" title={visible(props.message)}>
      {seconds() > 0 ? en.timeline.retry(props.attempt, countdown(seconds())) : en.timeline.retryNow(props.attempt)}
    </span>
  );
}
