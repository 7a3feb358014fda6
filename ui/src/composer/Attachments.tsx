/** The attachments of the prompt as chips: view, reorder, remove. */
import FileText from 'lucide-solid/icons/file-text';
import FileType from 'lucide-solid/icons/file-type';
import Folder from 'lucide-solid/icons/folder';
import Plug from 'lucide-solid/icons/plug';
import X from 'lucide-solid/icons/x';
import { createMemo, For, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { offer } from '../kit/offers';
import { bytes } from '../text/format';
import { visible } from '../text/visible';
import type { AttachmentKind, DraftAttachment } from '../protocol';
import { isStaged } from '../store/attachments';
import { useApp } from '../store/context';
import './attachments.css';

const ICONS: Readonly<Record<Exclude<AttachmentKind, 'image'>, Icon>> = {
  text: FileText,
  pdf: FileType,
  directory: Folder,
};
/** Twice the size on screen, for high-density displays. */
const THUMB = 72;
/** A press that moves less than this is not a drag. */
const STRAY = 6;

export function Attachments(props: { onLeave: () => void }) {
  const app = useApp();
  let row!: HTMLUListElement;
  const ids = createMemo(() => app.attachments.list().map((one) => one.id), undefined, {
    equals: (a, b) => a.join() === b.join(),
  });
  const find = (id: string) => app.attachments.list().find((one) => one.id === id);
  const focus = (index: number) => {
    const chip = row.querySelectorAll<HTMLElement>('.attachment-body')[index];
    if (chip) chip.focus();
    else props.onLeave();
  };
  const remove = (id: string) => {
    const at = ids().indexOf(id);
    app.attachments.remove(id);
    focus(Math.min(at, ids().length - 1));
  };
  const move = (id: string, step: number) => {
    const at = ids().indexOf(id);
    app.attachments.move(id, step);
    focus(Math.min(Math.max(at + step, 0), ids().length - 1));
  };
  const onKeyDown = (event: KeyboardEvent, id: string) => {
    const run = keyed(event, id);
    if (!run) return;
    event.preventDefault();
    run();
  };
  const keyed = (event: KeyboardEvent, id: string): (() => void) | undefined => {
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (side !== undefined) {
      return event.altKey || event.ctrlKey ? () => move(id, side) : () => focus(ids().indexOf(id) + side);
    }
    return event.key === 'Delete' || event.key === 'Backspace' ? () => remove(id) : undefined;
  };

  return (
    <Show when={ids().length > 0}>
      <ul class="attachments" ref={row} aria-label={en.attach.label} data-testid="attachments">
        <For each={ids()}>
          {(id, index) => (
            <Show when={find(id)}>
              {(one) => (
                <Chip
                  attachment={one()}
                  position={en.attach.position(index() + 1, ids().length)}
                  onKeyDown={(event) => onKeyDown(event, id)}
                  onRemove={() => remove(id)}
                  onSlide={(step) => app.attachments.move(id, step)}
                />
              )}
            </Show>
          )}
        </For>
      </ul>
    </Show>
  );
}

interface ChipProps {
  readonly attachment: DraftAttachment;
  readonly position: string;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onRemove: () => void;
  /** The chip was dragged past a neighbour. */
  readonly onSlide: (step: number) => void;
}

function Chip(props: ChipProps) {
  const app = useApp();
  const name = () => visible(props.attachment.name);
  const kind = () => props.attachment.kind;
  const resource = () => props.attachment.resource;
  const size = () => {
    const from = resource();
    if (from) return en.attach.from(visible(from.server));
    if (kind() === 'directory') return en.attach.folder;
    // The size is unknown for attachments of a prompt that was sent before.
    return isStaged(props.attachment) ? bytes(props.attachment.size) : en.attach.sent;
  };
  /** A resource of a tool server is read when the prompt is sent. */
  const isPicture = () => kind() === 'image' && !resource();
  const view = () => app.show({ name: 'lightbox', alone: { url: props.attachment.url, name: props.attachment.name } });
  const look = () => {
    if (isPicture() && !strayed) view();
  };
  const icon = () => (resource() ? Plug : ICONS[kind() as Exclude<AttachmentKind, 'image'>]);
  let item!: HTMLLIElement;
  let from: number | undefined;
  /** Ignores the click that ends a drag. */
  let strayed = false;

  const onPointerDown = (event: PointerEvent) => {
    if (event.button === 0) from = event.clientX;
    strayed = false;
  };
  const onPointerMove = (event: PointerEvent) => {
    if (from === undefined || Math.abs(event.clientX - from) < STRAY) return;
    item.setPointerCapture?.(event.pointerId);
    item.dataset.dragged = '';
    strayed = true;
    const { left, right } = item.getBoundingClientRect();
    const step = event.clientX > right ? 1 : event.clientX < left ? -1 : 0;
    if (step !== 0) props.onSlide(step);
  };
  const release = () => {
    from = undefined;
    delete item.dataset.dragged;
  };

  return (
    <li
      class="attachment"
      ref={(element) => {
        item = element;
        offer(element, () => [
          ...(isPicture() ? [{ label: en.menu.view, run: view }] : []),
          { label: en.menu.remove, run: () => props.onRemove() },
        ]);
      }}
      data-kind={kind()}
      data-attachment-id={props.attachment.id}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={release}
      onPointerCancel={release}
    >
      <button
        type="button"
        class="attachment-body"
        title={visible(props.attachment.path ?? resource()?.uri ?? props.attachment.name)}
        aria-label={`${name()}, ${size()}, ${props.position}`}
        aria-description={isPicture() ? en.attach.pictureKeys : en.attach.keys}
        onClick={look}
        onKeyDown={(event) => props.onKeyDown(event)}
      >
        <Show
          when={isPicture()}
          fallback={<Dynamic component={icon()} size={16} aria-hidden="true" />}
        >
          <img
            class="attachment-thumb"
            src={app.host.pictureURL(props.attachment.url, THUMB)}
            alt=""
            draggable={false}
            decoding="async"
          />
        </Show>
        <span class="attachment-words">
          <span class="attachment-name">{name()}</span>
          <span class="attachment-size">{size()}</span>
        </span>
      </button>
      <button
        type="button"
        class="attachment-remove"
        aria-label={en.attach.remove(name())}
        title={en.attach.remove(name())}
        onClick={() => props.onRemove()}
      >
        <X size={12} aria-hidden="true" />
      </button>
    </li>
  );
}
