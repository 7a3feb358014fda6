/** Changing a prompt that waits for the next step. */
import { mentionsIn } from '../composer/tokens';
import type { Host } from '../host/host';
import type { MessageView, PromptInput } from '../protocol';
import { draftOf, filesOf } from './prompts';

/**
 * Says something else. What its words name was read when it was sent, so words that name other
 * things take another prompt, with everything that was attached to the first.
 */
export async function editQueued(host: Host, message: MessageView, text: string, root: string): Promise<void> {
  const { sessionID, id } = message.info;
  if (namesTheSame(message, text, root)) return host.editQueued(sessionID, id, text);
  const made = await host.prompt(sessionID, inputOf(message, text, root));
  try {
    await host.removeQueued(sessionID, id);
  } catch (reason) {
    // The first was taken up meanwhile: the second must not follow it.
    await host.removeQueued(sessionID, made).catch(() => {});
    throw reason;
  }
}

function namesTheSame(message: MessageView, text: string, root: string): boolean {
  const before = draftOf(message, root).text;
  // Without words of its own there is nothing that could be changed.
  if (before.trim() === '' || text.trim() === '') return false;
  return mentionsIn(before).join('\n') === mentionsIn(text).join('\n');
}

function inputOf(message: MessageView, text: string, root: string): PromptInput {
  const { info } = message;
  const files = filesOf(draftOf(message, root), text, root);
  const { agent, model, variant } = info.role === 'user' ? info : {};
  return {
    text,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(variant === undefined ? {} : { variant }),
    ...(files.length === 0 ? {} : { files }),
  };
}
