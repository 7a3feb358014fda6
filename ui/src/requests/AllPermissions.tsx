import ShieldQuestion from 'lucide-solid/icons/shield-question-mark';
import { createMemo, For, Show, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { altName } from '../kit/keys';
import { visibleLine } from '../text/visible';
import type { PermissionRequest } from '../protocol';
import { useApp } from '../store/context';
import { isRepeated, type Arming } from './arming';
import { askerOf, createAnswering } from './answering';
import { describePermission } from './permission-details';
import { PermissionBody } from './PermissionBody';
import './request.css';

interface AllPermissionsProps {
  readonly requests: readonly PermissionRequest[];
  readonly arming: Arming;
  readonly beside?: JSX.Element;
}

/** Every waiting call at once. What is answered together is shown together, and nothing else is answered. */
export function AllPermissions(props: AllPermissionsProps) {
  const app = useApp();
  let section!: HTMLElement;
  const [armed, answering] = [props.arming.begin(), createAnswering(() => section)];
  const count = () => props.requests.length;
  const calls = createMemo(() => props.requests.map((request) => ({ request, details: describePermission(request) })));
  const risky = () => calls().some(({ details }) => details.dangers.length > 0);

  const allow = () => {
    const ids = props.requests.map(({ id }) => id);
    if (armed()) void answering.run(async () => void (await Promise.all(ids.map((id) => app.host.answerPermission(id, 'once', null)))));
  };
  /** A plain no stops the step, and with it the other calls of the same session. */
  const deny = () => {
    const first = [...new Map([...props.requests].reverse().map((one) => [one.sessionID, one.id])).values()];
    if (armed()) void answering.run(async () => void (await Promise.all(first.map((id) => app.host.answerPermission(id, 'reject', null)))));
  };
  answering.useKeys({ Digit1: allow, Digit3: deny });
  const button = (run: () => void) => ({
    disabled: answering.done(),
    'aria-disabled': armed() ? undefined : ('true' as const),
    'data-armed': armed() ? '' : undefined,
    onClick: (event: MouseEvent) => void (isRepeated(event) || run()),
  });

  return (
    <section
      class="prompt"
      ref={section}
      data-permission="all"
      data-danger={risky() ? '' : undefined}
      aria-label={en.permission.allTitle(count())}
    >
      <div class="prompt-head">
        <ShieldQuestion size={15} aria-hidden="true" />
        <p class="prompt-title" role="alert">
          {en.permission.allTitle(count())}
        </p>
        {props.beside}
      </div>
      <div class="prompt-body" tabindex="0" role="group" aria-label={en.permission.what}>
        <For each={calls()}>
          {({ request, details }, index) => (
            <article class="permission-call" data-request-id={request.id}>
              <h3>
                <span class="prompt-position">{en.permission.position(index() + 1, count())}</span>
                {visibleLine(details.title)}
                <Show when={askerOf(app, request.sessionID)}>
                  {(asker) => <span class="prompt-note prompt-asker">{asker()}</span>}
                </Show>
              </h3>
              <PermissionBody details={details} />
            </article>
          )}
        </For>
      </div>
      <div class="prompt-actions">
        <Button tone="danger" {...button(deny)}>
          {en.permission.denyAll(count())}
          <kbd aria-hidden="true">{altName('3')}</kbd>
        </Button>
        <Button tone="primary" {...button(allow)}>
          {en.permission.allowAll(count())}
          <kbd aria-hidden="true">{altName('1')}</kbd>
        </Button>
      </div>
    </section>
  );
}
