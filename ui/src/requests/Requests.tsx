import { createMemo, createSignal, Match, Show, Switch } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import { AllPermissions } from './AllPermissions';
import { createArming } from './arming';
import { LimitPrompt } from './LimitPrompt';
import { PermissionPrompt } from './PermissionPrompt';
import { QuestionPrompt } from './QuestionPrompt';

const LIMIT = 'limit';

/**
 * The waiting requests, above the composer so that they are visible at every scroll position. One at a
 * time, oldest first: a request must not be replaced while the person answers it. Calls that wait
 * together can be looked at and answered together.
 */
export function Requests() {
  const app = useApp();
  const arming = createArming();
  const [together, setTogether] = createSignal(false);
  const limit = () => app.requests().permissions.find(({ permission }) => permission === LIMIT);
  const calls = createMemo(() => app.requests().permissions.filter(({ permission }) => permission !== LIMIT), [], {
    equals: (a, b) => a.length === b.length && a.every((one, index) => one === b[index]),
  });
  /** One more call is another list, which must be read before it is answered. */
  const list = createMemo(() => (together() && calls().length > 1 ? calls() : undefined));
  const position = (count: number) => (count > 1 ? en.permission.position(1, count) : undefined);
  const toggle = () => (
    <Show when={calls().length > 1}>
      <button type="button" class="link-button prompt-toggle" onClick={() => setTogether((now) => !now)}>
        {together() ? en.permission.showOne : en.permission.showAll(calls().length)}
      </button>
    </Show>
  );
  return (
    <>
      <Switch>
        <Match when={limit()} keyed>
          {(request) => <LimitPrompt request={request} arming={arming} />}
        </Match>
        <Match when={list()} keyed>
          {(requests) => <AllPermissions requests={requests} arming={arming} beside={toggle()} />}
        </Match>
        <Match when={calls()[0]} keyed>
          {(request) => (
            <PermissionPrompt request={request} arming={arming} position={position(calls().length)} beside={toggle()} />
          )}
        </Match>
      </Switch>
      <Show when={app.requests().questions[0]} keyed>
        {(request) => (
          <QuestionPrompt request={request} arming={arming} position={position(app.requests().questions.length)} />
        )}
      </Show>
    </>
  );
}
