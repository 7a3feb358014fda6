import RotateCw from 'lucide-solid/icons/rotate-cw';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { clock, countdown } from '../text/format';
import { visible } from '../text/visible';
import { useApp } from '../store/context';
import { createCountdown } from './countdown';
import type { PartProps } from './registry';

/** A failed attempt. The newest one counts down to the next attempt, which can be started at once. */
export function RetryPart(props: PartProps<'retry'>) {
  const app = useApp();
  const reason = () => {
    const { error } = props.part;
    if (error.name === 'APIError') return en.part.retryReason(error.data.statusCode, error.data.message);
    return 'message' in error.data ? String(error.data.message) : error.name;
  };
  const waiting = () => {
    const status = app.status();
    const mine = status.type === 'retry' && status.attempt === props.part.attempt && newest() === props.part.id;
    return mine && app.selected() === props.part.sessionID ? status : undefined;
  };
  // Attempts are counted per answer, so an older part may have the same number.
  const newest = () =>
    app.timeline.open()?.messages.at(-1)?.parts.findLast(({ part }) => part.type === 'retry')?.part.id;
  return (
    <div class="meta-line retry-line" title={clock(props.part.time.created)}>
      <RotateCw size={13} aria-hidden="true" />
      <span>{en.part.retry(props.part.attempt)}</span>
      <span class="retry-reason" title={visible(reason())}>
        {visible(reason())}
      </span>
      <Show when={waiting()}>{(status) => <Waiting next={status().next} />}</Show>
    </div>
  );
}

function Waiting(props: { next: number }) {
  const app = useApp();
  const seconds = createCountdown(() => props.next);
  const tryNow = () => {
    const id = app.selected();
    if (id !== undefined) void app.attempt(() => app.host.retryNow(id));
  };
  return (
    <>
      <span class="retry-next">{seconds() > 0 ? en.part.nextTry(countdown(seconds())) : en.part.trying}</span>
      <Button class="retry-act" data-testid="retry-now" onClick={tryNow}>
        {en.part.tryNow}
      </Button>
      <Button class="retry-act" data-testid="retry-stop" onClick={() => void app.stop()}>
        {en.part.stop}
      </Button>
    </>
  );
}
