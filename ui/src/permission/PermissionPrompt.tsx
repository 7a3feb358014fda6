import ShieldQuestion from 'lucide-solid/icons/shield-question-mark';
import { createSignal, For, Show } from 'solid-js';
import { DiffText } from '../diff/DiffText';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { altName, isComposing, useShortcuts } from '../kit/keys';
import { visible } from '../kit/visible';
import type { PermissionReply, PermissionRequest } from '../protocol';
import { useApp } from '../store/context';
import '../kit/prompt.css';

/**
 * The agent asks for leave. Nothing here takes the focus by itself: a key that was meant for
 * the composer must never allow anything. Its own keys need Alt, and go to the first in line.
 */
export function PermissionPrompt(props: { request: PermissionRequest; first: boolean }) {
  const app = useApp();
  const [reason, setReason] = createSignal('');
  const [answered, setAnswered] = createSignal(false);
  const title = () => en.permission.titles[props.request.permission] ?? en.permission.title(props.request.permission);

  /** What would be written, before it is. */
  const diff = () => {
    const text = props.request.metadata['diff'];
    return typeof text === 'string' && text !== '' ? text : undefined;
  };

  const answer = async (reply: PermissionReply) => {
    const message = reply === 'reject' && reason().trim() !== '' ? reason().trim() : null;
    setAnswered(true);
    const done = await app.attempt(() => app.host.answerPermission(props.request.id, reply, message).then(() => true));
    if (!done) setAnswered(false);
  };
  const keyed = (run: () => void) => () => {
    if (props.first && !answered() && app.overlay() === undefined) run();
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
    if (event.key !== 'Enter' || isComposing(event)) return;
    event.preventDefault();
    void answer('reject');
  };

  const Key = (key: { name: string }) => (
    <Show when={props.first}>
      <kbd aria-hidden="true">{altName(key.name)}</kbd>
    </Show>
  );

  return (
    <section class="prompt" data-permission="true" data-request-id={props.request.id} aria-label={title()}>
      <div class="prompt-head">
        <ShieldQuestion size={15} aria-hidden="true" />
        <p class="prompt-title" role="alert">
          {title()}
        </p>
        <Show when={props.request.sessionID !== app.selected()}>
          <span class="prompt-note">{en.permission.fromChild}</span>
        </Show>
      </div>
      <ul class="prompt-patterns">
        <For each={props.request.patterns}>
          {(pattern) => (
            <li>
              <code>{visible(pattern)}</code>
            </li>
          )}
        </For>
      </ul>
      <Show when={diff()}>{(text) => <DiffText diff={text()} label={en.permission.changes} />}</Show>
      <Show when={props.request.always.length > 0}>
        <p class="prompt-note">{en.permission.alwaysAdds(props.request.permission, props.request.always.map(visible).join(', '))}</p>
      </Show>
      <div class="prompt-actions">
        <input
          ref={field}
          class="prompt-input"
          aria-label={en.permission.reason}
          placeholder={props.first ? `${en.permission.reason} (${altName('4')})` : en.permission.reason}
          value={reason()}
          disabled={answered()}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <Button tone="danger" disabled={answered()} onClick={() => void answer('reject')}>
          {en.permission.deny}
          <Key name="3" />
        </Button>
        <Show when={props.request.always.length > 0}>
          <Button disabled={answered()} onClick={() => void answer('always')}>
            {en.permission.always}
            <Key name="2" />
          </Button>
        </Show>
        <Button tone="primary" disabled={answered()} onClick={() => void answer('once')}>
          {en.permission.once}
          <Key name="1" />
        </Button>
      </div>
    </section>
  );
}
