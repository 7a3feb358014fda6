import { createSignal } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { offerAround } from '../kit/offers';
import type { MessageView } from '../protocol';
import { useApp } from '../store/context';

/** A prompt whose turn ended before it was taken up. It is sent, or removed, by a click. */
export function UnsentPrompt(props: { message: MessageView }) {
  const app = useApp();
  const [working, setWorking] = createSignal(false);
  const once = async (work: () => Promise<unknown>) => {
    if (working()) return;
    setWorking(true);
    await work();
    setWorking(false);
  };
  const remove = () => {
    const { sessionID, id } = props.message.info;
    return app.attempt(() => app.host.removeQueued(sessionID, id));
  };
  const send = () => void once(() => app.sendUnsent(props.message.info.id));
  const items = () => [
    { label: en.timeline.sendUnsent, disabled: working(), run: send },
    { label: en.timeline.removeUnsent, disabled: working(), run: () => void once(remove) },
  ];
  return (
    <div class="queued unsent" ref={offerAround('.user-message', items)}>
      <span class="queued-badge" title={en.timeline.unsentHint}>
        {en.timeline.unsent}
      </span>
      <Button disabled={working()} onClick={send}>
        {en.timeline.sendUnsent}
      </Button>
      <Button disabled={working()} onClick={() => void once(remove)}>
        {en.timeline.removeUnsent}
      </Button>
    </div>
  );
}
