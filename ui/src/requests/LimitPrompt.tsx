import Gauge from 'lucide-solid/icons/gauge';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { altName } from '../kit/keys';
import type { PermissionReply, PermissionRequest } from '../protocol';
import { useApp } from '../store/context';
import { isRepeated, type Arming } from './arming';
import { askerOf, createAnswering } from './answering';
import { describeLimit } from './limit-details';
import './request.css';

/** A limit was reached and the turn pauses: go on once, raise the limit, or stop. */
export function LimitPrompt(props: { request: PermissionRequest; arming: Arming }) {
  const app = useApp();
  let section!: HTMLElement;
  const [armed, answering] = [props.arming.begin(), createAnswering(() => section)];
  // As it was when the limit was reached: raising it must not change the offer.
  const what = createMemo(() => describeLimit(props.request, { ...app.settings.limits }));

  const answer = (reply: PermissionReply) => {
    const { id } = props.request;
    if (armed()) void answering.run(() => app.host.answerPermission(id, reply, null));
  };
  const raise = () => {
    const next = what().raise;
    if (!armed() || !next) return;
    app.save({ limits: next.limits });
    answer('once');
  };
  answering.useKeys({ Digit1: () => answer('once'), Digit2: raise, Digit3: () => answer('reject') });
  const button = (run: () => void) => ({
    disabled: answering.done(),
    'aria-disabled': armed() ? undefined : ('true' as const),
    'data-armed': armed() ? '' : undefined,
    onClick: (event: MouseEvent) => void (isRepeated(event) || run()),
  });

  return (
    <section class="prompt" ref={section} data-limit="true" data-request-id={props.request.id} aria-label={what().title}>
      <div class="prompt-head">
        <Gauge size={15} aria-hidden="true" />
        <p class="prompt-title" role="alert">
          {what().title}
        </p>
        <Show when={askerOf(app, props.request.sessionID)}>
          {(asker) => <span class="prompt-note prompt-asker">{asker()}</span>}
        </Show>
      </div>
      <div class="prompt-actions">
        <span class="prompt-note">{what().yours}</span>
        <Button tone="danger" {...button(() => answer('reject'))}>
          {en.limits.stop}
          <kbd aria-hidden="true">{altName('3')}</kbd>
        </Button>
        <Show when={what().raise}>
          {(next) => (
            <Button {...button(raise)}>
              {en.limits.raise(next().words)}
              <kbd aria-hidden="true">{altName('2')}</kbd>
            </Button>
          )}
        </Show>
        <Button tone="primary" {...button(() => answer('once'))}>
          {en.limits.once}
          <kbd aria-hidden="true">{altName('1')}</kbd>
        </Button>
      </div>
    </section>
  );
}
