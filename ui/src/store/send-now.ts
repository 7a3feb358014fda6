/** Sends a queued prompt at once: the running turn is stopped for it. */
import type { App } from './app';

/** The other queued prompts wait for the turn of this one, in their order. */
export async function sendNow(app: App, sessionID: string, messageID: string): Promise<void> {
  const others = (app.timeline.open()?.queued ?? []).filter((id) => id !== messageID);
  await app.attempt(async () => {
    await app.host.abort(sessionID);
    for (const id of [messageID, ...others]) await app.host.sendUnsent(sessionID, id);
  });
}
