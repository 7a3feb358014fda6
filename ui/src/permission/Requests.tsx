import { createMemo, For } from 'solid-js';
import { QuestionPrompt } from '../question/QuestionPrompt';
import { useApp } from '../store/context';
import { PermissionPrompt } from './PermissionPrompt';

/** What waits for the person, above the composer so that it is seen wherever the reader is. */
export function Requests() {
  const app = useApp();
  /** Of this session and of the tasks it started. */
  const mine = (request: { sessionID: string }) => {
    const here = app.selected();
    return here !== undefined && (request.sessionID === here || app.state().sessions[request.sessionID]?.parentID === here);
  };
  const permissions = createMemo(() => app.state().permissions.filter(mine));
  const questions = createMemo(() => app.state().questions.filter(mine));
  return (
    <>
      <For each={permissions()}>{(request) => <PermissionPrompt request={request} />}</For>
      <For each={questions()}>{(request) => <QuestionPrompt request={request} />}</For>
    </>
  );
}
