import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { QuestionPrompt } from './QuestionPrompt';
import { useApp } from '../store/context';
import { createArming } from './arming';
import { PermissionPrompt } from './PermissionPrompt';

/**
 * The waiting requests, above the composer so that they are visible at every scroll position. One at a
 * time, oldest first: a request must not be replaced while the person answers it.
 */
export function Requests() {
  const app = useApp();
  const arming = createArming();
  const position = (waiting: readonly unknown[]) =>
    waiting.length > 1 ? en.permission.position(1, waiting.length) : undefined;
  return (
    <>
      <Show when={app.requests().permissions[0]} keyed>
        {(request) => <PermissionPrompt request={request} arming={arming} position={position(app.requests().permissions)} />}
      </Show>
      <Show when={app.requests().questions[0]} keyed>
        {(request) => <QuestionPrompt request={request} arming={arming} position={position(app.requests().questions)} />}
      </Show>
    </>
  );
}
