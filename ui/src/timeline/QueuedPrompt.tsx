import ArrowUp from 'lucide-solid/icons/arrow-up';
import Pencil from 'lucide-solid/icons/pencil';
import Trash from 'lucide-solid/icons/trash';
import { createMemo, createSignal, onCleanup, onMount, Show, untrack } from 'solid-js';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import type { MenuItem } from '../kit/Menu';
import { offerAround } from '../kit/offers';
import { PartList } from '../parts/PartList';
import type { MessageView } from '../protocol';
import type { App } from '../store/app';
import { useApp } from '../store/context';
import { NO_DRAFT } from '../store/drafts';
import { isWhole, wholeMessage } from '../store/whole-text';

/** A queued prompt. Until the next step it can be edited or removed. */
export function QueuedPrompt(props: { message: MessageView }) {
  const app = useApp();
  const place = () => `queued:${props.message.info.id}`;
  // An edit continues after the row was scrolled out of view.
  const [editing, setEditing] = createSignal(untrack(() => app.drafts.get(place()) !== NO_DRAFT));
  const [original, setOriginal] = createSignal(untrack(() => typed(props.message)));
  let edit: HTMLButtonElement | undefined;

  const begin = async () => {
    if (!isWhole(props.message)) {
      const message = await app.attempt(() => wholeMessage(app.host, props.message));
      if (!message) return;
      setOriginal(typed(message));
    }
    setEditing(true);
  };
  const leave = () => {
    app.drafts.change(place(), NO_DRAFT);
    setEditing(false);
    queueMicrotask(() => edit?.focus());
  };
  const save = async (text: string) => {
    const { sessionID, id } = props.message.info;
    const saved = await app.attempt(() => app.host.editQueued(sessionID, id, text).then(() => true));
    if (saved) leave();
  };
  const remove = () => {
    const { sessionID, id } = props.message.info;
    void app.attempt(() => app.host.removeQueued(sessionID, id));
  };

  const isFirst = () => app.timeline.open()?.queued[0] === props.message.info.id;
  const moveUp = () => {
    const { sessionID, id } = props.message.info;
    void app.attempt(() => app.host.moveQueuedUp(sessionID, id));
  };
  const now = () => {
    const { sessionID, id } = props.message.info;
    void app.attempt(() => app.host.sendQueuedNow(sessionID, id));
  };

  const items = (): MenuItem[] => [
    { label: en.work.queue.sendNow, run: now },
    ...(isFirst() ? [] : [{ label: en.work.queue.up, run: moveUp }]),
    { label: en.timeline.editQueued, run: () => void begin() },
    { label: en.timeline.removeQueued, run: remove },
  ];

  return (
    <Show
      when={!editing()}
      fallback={
        <QueuedEditor
          message={props.message}
          original={original()}
          place={place()}
          save={(text) => void save(text)}
          cancel={leave}
        />
      }
    >
      <PartList message={props.message} />
      <div class="queued" ref={offerAround('.user-message', items)}>
        <span class="queued-badge" title={en.timeline.queuedHint}>
          {en.timeline.queued}
        </span>
        <Show when={!isFirst()}>
          <IconButton icon={ArrowUp} label={en.work.queue.up} onClick={moveUp} />
        </Show>
        <Button class="queued-now" title={en.work.queue.sendNowHint} onClick={now}>
          {en.work.queue.sendNow}
        </Button>
        <IconButton ref={edit} icon={Pencil} label={en.timeline.editQueued} onClick={() => void begin()} />
        <IconButton icon={Trash} label={en.timeline.removeQueued} onClick={remove} />
      </div>
    </Show>
  );
}

interface EditorProps {
  readonly message: MessageView;
  /** Its text before the edit. */
  readonly original: string;
  /** The place of the draft until it is saved. */
  readonly place: string;
  readonly save: (text: string) => void;
  readonly cancel: () => void;
}

function QueuedEditor(props: EditorProps) {
  const app = useApp();
  const [text, setText] = createSignal(untrack(() => app.drafts.get(props.place).text || props.original));
  const write = (words: string) => {
    setText(words);
    app.drafts.change(props.place, { text: words });
  };
  onCleanup(() => untrack(() => keepWhatWasTakenUp(app, props)));
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
      // Escape must only leave the field, not stop the turn.
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
        onInput={(event) => write(event.currentTarget.value)}
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

/** The turn started with the prompt while it was edited: moves the text to the composer. */
function keepWhatWasTakenUp(app: App, { message, original, place }: EditorProps): void {
  const { sessionID, id } = message.info;
  const open = app.timeline.open();
  const { text } = app.drafts.get(place);
  if (open?.sessionID !== sessionID || open.queued.includes(id)) return;
  app.drafts.change(place, NO_DRAFT);
  if (text.trim() === '' || text === original) return;
  const written = app.drafts.get(sessionID).text;
  app.drafts.change(sessionID, { text: written === '' ? text : `${written}\n\n${text}` });
  app.toasts.show({ tone: 'info', text: en.timeline.queuedTaken });
}

/** The text that the person typed, without what the program added. */
function typed(message: MessageView): string {
  const part = message.parts.map((view) => view.part).find((one) => one.type === 'text' && !one.synthetic);
  return part?.type === 'text' ? part.text : '';
}
