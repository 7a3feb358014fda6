import ShieldQuestion from 'lucide-solid/icons/shield-question-mark';
import { createMemo, createSignal, For, Show } from 'solid-js';
import { DiffText } from '../diff/DiffText';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { moveFocus } from '../kit/focus';
import { altName, isComposing, useShortcuts } from '../kit/keys';
import { visible, visibleLine } from '../text/visible';
import type { PermissionReply, PermissionRequest } from '../protocol';
import { useApp } from '../store/context';
import { isRepeated, type Arming } from './arming';
import { leaveToComposer } from './leave-to-composer';
import { describePermission } from './permission-details';
import './request.css';

/**
 * A permission request. It never takes the focus by itself: a key press that was meant for the composer
 * must not allow anything. Its shortcuts need Alt.
 */
export function PermissionPrompt(props: { request: PermissionRequest; arming: Arming; position?: string }) {
  const app = useApp();
  const armed = props.arming.begin();
  let section!: HTMLElement;
  const leaving = leaveToComposer(() => section);
  const [reason, setReason] = createSignal('');
  const [answered, setAnswered] = createSignal(false);
  const title = () =>
    en.permission.titles[props.request.permission] ?? en.permission.title(visible(props.request.permission));
  const what = createMemo(() => describePermission(props.request));
  const asker = () => {
    const { sessionID } = props.request;
    if (sessionID === app.selected()) return undefined;
    const task = app.sessions.get(sessionID)?.title;
    return task ? en.permission.fromTask(visible(task)) : en.permission.fromChild;
  };

  const answer = async (reply: PermissionReply) => {
    if (answered() || !armed()) return;
    leaving.answering();
    const message = reply === 'reject' && reason().trim() !== '' ? reason().trim() : null;
    setAnswered(true);
    const done = await app.attempt(() => app.host.answerPermission(props.request.id, reply, message).then(() => true));
    if (!done) setAnswered(false);
  };
  const keyed = (run: () => void) => () => {
    if (!answered() && app.overlay() === undefined) run();
  };
  let field!: HTMLInputElement;
  useShortcuts({
    alt: {
      Digit1: keyed(() => void answer('once')),
      Digit2: keyed(() => props.request.always.length > 0 && void answer('always')),
      Digit3: keyed(() => void answer('reject')),
      Digit4: keyed(() => field.focus()),
    },
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    // Esc only leaves the field; it must not stop the turn.
    if (event.key === 'Escape') moveFocus('composer');
    else void answer('reject');
  };
  /** Not `disabled`, which would drop the focus and hide the button from screen readers. */
  const button = (reply: PermissionReply) => ({
    disabled: answered(),
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
      aria-label={title()}
    >
      <div class="prompt-head">
        <ShieldQuestion size={15} aria-hidden="true" />
        <p class="prompt-title" role="alert">
          {title()}
        </p>
        <Show when={asker()}>
          <span class="prompt-note prompt-asker">{asker()}</span>
        </Show>
        <Show when={props.position}>
          <span class="prompt-position" data-testid="permission-position">
            {props.position}
          </span>
        </Show>
      </div>
      <div class="prompt-body" tabindex="0" role="group" aria-label={en.permission.what}>
        <For each={what().facts}>
          {(fact) => (
            <div class="prompt-fact">
              <Show when={what().facts.length > 1}>
                <span class="prompt-label">{fact.label}</span>
              </Show>
              <For each={fact.values}>{(value) => <code>{fact.lines ? visible(value) : visibleLine(value)}</code>}</For>
            </div>
          )}
        </For>
        <Show when={what().said}>
          {(said) => <p class="prompt-note">{en.permission.said(visible(said()))}</p>}
        </Show>
        <For each={what().reasons}>{(reason) => <p class="prompt-note prompt-reason">{visible(reason)}</p>}</For>
        <Show when={what().diff}>{(text) => <DiffText diff={text()} label={en.permission.changes} />}</Show>
      </div>
      <Show
        when={props.request.always.length > 0}
        fallback={<p class="prompt-note">{en.permission.never}</p>}
      >
        <p class="prompt-note">
          {en.permission.alwaysAdds}{' '}
          <For each={props.request.always}>
            {(pattern) => (
              <code class="prompt-rule">
                {visibleLine(props.request.permission)}: {visibleLine(pattern)}
              </code>
            )}
          </For>
        </p>
      </Show>
      <div class="prompt-actions">
        <input
          ref={field}
          class="field"
          aria-label={en.permission.reason}
          placeholder={`${en.permission.reason} (${altName('4')})`}
          value={reason()}
          disabled={answered()}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <Button tone="danger" {...button('reject')}>
          {en.permission.deny}
          <kbd aria-hidden="true">{altName('3')}</kbd>
        </Button>
        <Show when={props.request.always.length > 0}>
          <Button {...button('always')}>
            {en.permission.always}
            <kbd aria-hidden="true">{altName('2')}</kbd>
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
