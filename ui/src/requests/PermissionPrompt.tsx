import ShieldQuestion from 'lucide-solid/icons/shield-question-mark';
import { createMemo, For, Show, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { moveFocus } from '../kit/focus';
import { altName, isComposing } from '../kit/keys';
import { visibleLine } from '../text/visible';
import type { PermissionReply, PermissionRequest } from '../protocol';
import { useApp } from '../store/context';
import { isRepeated, type Arming } from './arming';
import { askerOf, createAnswering } from './answering';
import { describePermission, type PermissionDetails } from './permission-details';
import { PermissionBody } from './PermissionBody';
import './request.css';

interface PermissionPromptProps {
  readonly request: PermissionRequest;
  readonly arming: Arming;
  readonly position?: string;
  /** In the head, after the position. */
  readonly beside?: JSX.Element;
}

/**
 * A permission request. It never takes the focus by itself: a key press that was meant for the composer
 * must not allow anything. Its shortcuts need Alt.
 */
export function PermissionPrompt(props: PermissionPromptProps) {
  const app = useApp();
  let section!: HTMLElement;
  let field!: HTMLInputElement;
  const [armed, answering] = [props.arming.begin(), createAnswering(() => section)];
  const what = createMemo(() => describePermission(props.request));
  const reason = () => app.typed.reason(props.request.id);
  const comments = () => app.typed.commentsToSend(props.request.id);
  const [asker, canRemember] = [() => askerOf(app, props.request.sessionID), () => what().rules.length > 0];

  const answer = (reply: PermissionReply) => {
    if (!armed()) return;
    const { id } = props.request;
    const message = reply === 'reject' && reason().trim() !== '' ? reason().trim() : null;
    const said = reply === 'reject' ? comments() : [];
    void answering.run(() =>
      said.length > 0 ? app.host.answerPermission(id, reply, message, [...said]) : app.host.answerPermission(id, reply, message),
    );
  };
  answering.useKeys({
    Digit1: () => answer('once'),
    Digit2: () => canRemember() && answer('always'),
    Digit3: () => answer('reject'),
    Digit4: () => field.focus(),
    Digit5: () => canRemember() && answer('session'),
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    // Esc only leaves the field; it must not stop the turn.
    if (event.key === 'Escape') moveFocus('composer');
    else answer('reject');
  };
  /** Not `disabled`, which would drop the focus and hide the button from screen readers. */
  const button = (reply: PermissionReply) => ({
    disabled: answering.done(),
    'aria-disabled': armed() ? undefined : ('true' as const),
    'data-armed': armed() ? '' : undefined,
    onClick: (event: MouseEvent) => void (isRepeated(event) || answer(reply)),
  });

  return (
    <section
      class="prompt"
      ref={section}
      data-permission="true"
      data-request-id={props.request.id}
      data-danger={what().dangers.length > 0 ? '' : undefined}
      aria-label={what().title}
    >
      <div class="prompt-head">
        <ShieldQuestion size={15} aria-hidden="true" />
        <p class="prompt-title" role="alert">
          {visibleLine(what().title)}
        </p>
        <Show when={asker()}>
          <span class="prompt-note prompt-asker">{asker()}</span>
        </Show>
        <Show when={props.position}>
          <span class="prompt-position" data-testid="permission-position">
            {props.position}
          </span>
        </Show>
        {props.beside}
      </div>
      <div class="prompt-body" tabindex="0" role="group" aria-label={en.permission.what}>
        <PermissionBody details={what()} commented={props.request.id} />
      </div>
      <Show when={comments().length > 0}>
        <p class="prompt-note" role="status">
          {en.review.comment.withDenial(comments().length)}
        </p>
      </Show>
      <Rules details={what()} />
      <div class="prompt-actions">
        <input
          ref={field}
          class="field"
          aria-label={en.permission.reason}
          placeholder={`${en.permission.reasonShort} (${altName('4')})`}
          value={reason()}
          disabled={answering.done()}
          onInput={(event) => app.typed.setReason(props.request.id, event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <Button tone="danger" {...button('reject')}>
          {reason().trim() === '' && comments().length === 0 ? en.permission.deny : en.permission.denyWithReason}
          <kbd aria-hidden="true">{altName('3')}</kbd>
        </Button>
        <Show when={canRemember()}>
          <Button {...button('always')}>
            {en.permission.always}
            <kbd aria-hidden="true">{altName('2')}</kbd>
          </Button>
          <Button {...button('session')}>
            {en.permission.session}
            <kbd aria-hidden="true">{altName('5')}</kbd>
          </Button>
        </Show>
        <Button tone="primary" {...button('once')}>
          {en.permission.once}
          <kbd aria-hidden="true">{altName('1')}</kbd>
        </Button>
      </div>
    </section>
  );
}

/** Exactly what "always" would add. */
function Rules(props: { details: PermissionDetails }) {
  return (
    <Show when={props.details.rules.length > 0} fallback={<p class="prompt-note">{en.permission.never}</p>}>
      <p class="prompt-note">
        {en.permission.alwaysAdds}{' '}
        <For each={props.details.rules}>
          {(rule) => (
            <code class="prompt-rule">
              {visibleLine(rule.permission)}: {visibleLine(rule.pattern)}
            </code>
          )}
        </For>
      </p>
    </Show>
  );
}
