import Pencil from 'lucide-solid/icons/pencil';
import Trash from 'lucide-solid/icons/trash';
import { createMemo, createSignal, onMount, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { PartList } from '../parts/PartList';
import type { MessageView } from '../protocol';
import { useApp } from '../store/context';

/** A prompt that waits for the next step: until then it can be changed or taken back. */
export function QueuedPrompt(props: { message: MessageView }) {
  const app = useApp();
  const [editing, setEditing] = createSignal(false);
  let edit: HTMLButtonElement | undefined;

  const leave = () => {
    setEditing(false);
    queueMicrotask(() => edit?.focus());
  };
  const save = async (text: string) => {
    const { sessionID, id } = props.message.info;
    await app.attempt(() => app.host.editQueued(sessionID, id, text));
    leave();
  };
  const remove = () => {
    const { sessionID, id } = props.message.info;
    void app.attempt(() => app.host.removeQueued(sessionID, id));
  };

  return (
    <Show
      when={!editing()}
      fallback={<QueuedEditor message={props.message} save={(text) => void save(text)} cancel={leave} />}
    >
      <PartList message={props.message} />
      <div class="queued">
        <span class="queued-badge" title={en.timeline.queuedHint}>
          {en.timeline.queued}
        </span>
        <IconButton ref={edit} icon={Pencil} label={en.timeline.editQueued} onClick={() => setEditing(true)} />
        <IconButton icon={Trash} label={en.timeline.removeQueued} onClick={remove} />
      </div>
    </Show>
  );
}

function QueuedEditor(props: { message: MessageView; save: (text: string) => void; cancel: () => void }) {
  const [text, setText] = createSignal(typed(props.message));
  let field!: HTMLTextAreaElement;
  const attached = createMemo(() => ({
    ...props.message,
    parts: props.message.parts.filter(({ part }) => part.type === 'file'),
  }));
  const empty = () => text().trim() === '';
  onMount(() => {
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      // Escape also stops the turn; here it only leaves the field.
      event.stopPropagation();
      props.cancel();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (!empty()) props.save(text());
    }
  };
  return (
    <form
      class="queued-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (!empty()) props.save(text());
      }}
    >
      <textarea
        ref={field}
        aria-label={en.timeline.queuedText}
        rows={Math.min(8, text().split('\n').length + 1)}
        value={text()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="queued-files">
        <PartList message={attached()} />
      </div>
      <div class="queued">
        <Button tone="primary" type="submit" disabled={empty()}>
          {en.timeline.saveQueued}
        </Button>
        <Button onClick={props.cancel}>{en.timeline.cancelQueued}</Button>
      </div>
    </form>
  );
}

/** What the person typed; what the program added stays as it is. */
function typed(message: MessageView): string {
  const part = message.parts.map((view) => view.part).find((one) => one.type === 'text' && !one.synthetic);
  return part?.type === 'text' ? part.text : '';
}
