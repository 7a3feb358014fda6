import { For } from 'solid-js';
import { QuestionPrompt } from '../question/QuestionPrompt';
import { useApp } from '../store/context';
import { PermissionPrompt } from './PermissionPrompt';

/** What waits for the person, above the composer so that it is seen wherever the reader is. */
export function Requests() {
  const app = useApp();
  return (
    <>
      <For each={app.requests().permissions}>
        {(request, index) => <PermissionPrompt request={request} first={index() === 0} />}
      </For>
      <For each={app.requests().questions}>
        {(request, index) => <QuestionPrompt request={request} first={index() === 0} />}
      </For>
    </>
  );
}
