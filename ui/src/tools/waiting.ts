/** Whether a call waits for an answer: to a permission request, or to a question. */
import type { ToolPart } from '../protocol';
import type { App } from '../store/app';

export function isWaiting(app: Pick<App, 'requests'>, part: Pick<ToolPart, 'messageID' | 'callID'>): boolean {
  const { permissions, questions } = app.requests();
  return [...permissions, ...questions].some(
    ({ tool }) => tool?.callID === part.callID && tool.messageID === part.messageID,
  );
}
