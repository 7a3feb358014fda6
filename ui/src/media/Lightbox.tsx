/**
 * Shows one picture over the window, with zoom, pan and navigation to the session's other pictures.
 *
 * The requested picture is shown at once; the list of all pictures loads afterwards.
 */
import { Dialog } from '@kobalte/core/dialog';
import ChevronLeft from 'lucide-solid/icons/chevron-left';
import ChevronRight from 'lucide-solid/icons/chevron-right';
import Copy from 'lucide-solid/icons/copy';
import Download from 'lucide-solid/icons/download';
import Maximize from 'lucide-solid/icons/maximize';
import ZoomIn from 'lucide-solid/icons/zoom-in';
import ZoomOut from 'lucide-solid/icons/zoom-out';
import { createEffect, createMemo, createResource, on, Show } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { DialogClose, DialogFrame, focusLater, focusReturn } from '../kit/DialogFrame';
import { hasCommandKey, keyName } from '../kit/keys';
import { offer } from '../kit/offers';
import { copyImage, imageItems, saveImage } from '../kit/places';
import { visibleLine } from '../text/visible';
import type { FilePart, Part, PartView, SessionImage } from '../protocol';
import type { Overlay } from '../store/app';
import { useApp } from '../store/context';
import { Picture, type PictureHandle } from './Picture';
import './lightbox.css';

type Place = Extract<Overlay, { name: 'lightbox' }>;

export function Lightbox() {
  const app = useApp();
  const place = createMemo(() => {
    const overlay = app.overlay();
    return overlay?.name === 'lightbox' ? overlay : undefined;
  });
  return (
    <DialogFrame at={place()} scrim="lightbox-scrim" onClose={() => app.dismiss('lightbox')}>
      {(shown) => <Window place={shown()} />}
    </DialogFrame>
  );
}

function Window(props: { place: Place }) {
  const app = useApp();
  const giveBack = focusReturn('composer');
  const sessionID = 'alone' in props.place ? undefined : props.place.sessionID;
  const partID = () => ('alone' in props.place ? '' : props.place.partID);
  const [all] = createResource(
    () => sessionID,
    (id) => app.attempt(() => app.host.sessionImages(id)),
  );
  const loaded = () => findLoaded(app.timeline.open()?.messages.flatMap((one) => one.parts) ?? [], partID());
  const images = createMemo((): readonly SessionImage[] => {
    if ('alone' in props.place) return [{ ...props.place.alone, messageID: '', partID: '', mime: '' }];
    const known = all() ?? [];
    const own = loaded();
    if (known.some((one) => one.partID === partID()) || !own) return known;
    // It is newer than the list, or the list is still loading.
    return [...known, own];
  });
  const at = () => images().findIndex((one) => one.partID === partID());
  const image = createMemo(() => images()[at()], undefined, { equals: (a, b) => a?.partID === b?.partID });
  const name = () => visibleLine(image()?.name || en.lightbox.unnamed);
  let picture: PictureHandle | undefined;
  let content!: HTMLDivElement;

  const go = (step: number) => {
    const next = images()[at() + step];
    if (next && sessionID !== undefined) app.show({ name: 'lightbox', sessionID, partID: next.partID });
  };
  const copy = () => {
    const url = image()?.url;
    if (url !== undefined) void copyImage(app, url);
  };
  const save = () => {
    const url = image()?.url;
    if (url !== undefined) void saveImage(app, url);
  };
  const keyed = (event: KeyboardEvent): (() => void) | undefined => {
    if (hasCommandKey(event)) return { c: copy, s: save }[event.key.toLowerCase()];
    if (event.altKey || event.ctrlKey || event.metaKey) return undefined;
    const arrows: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [1, 0],
      ArrowRight: [-1, 0],
      ArrowUp: [0, 1],
      ArrowDown: [0, -1],
    };
    const arrow = arrows[event.key];
    if (arrow && (event.shiftKey || arrow[1] !== 0)) return () => picture?.move(arrow[0] * 60, arrow[1] * 60);
    if (arrow) return () => go(-arrow[0]);
    switch (event.key) {
      case '+':
      case '=':
        return () => picture?.zoom(1);
      case '-':
        return () => picture?.zoom(-1);
      case '0':
        return () => picture?.fit();
      case '1':
        return () => picture?.actual();
      case 'Home':
        return () => go(-at());
      case 'End':
        return () => go(images().length - 1 - at());
      default:
        return undefined;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const run = keyed(event);
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  createEffect(on(partID, () => picture?.fit(), { defer: true }));

  return (
    <Dialog.Content
      class="lightbox own-scheme"
      ref={(element: HTMLDivElement) => {
        content = element;
        offer(element, () => {
          const url = image()?.url;
          return url === undefined ? [] : imageItems(app, url);
        });
      }}
      data-testid="lightbox"
      onKeyDown={onKeyDown}
      onOpenAutoFocus={focusLater(() => content.focus())}
      onCloseAutoFocus={giveBack}
    >
      <header class="lightbox-bar">
        <Dialog.Title class="lightbox-title" title={name()}>
          {name()}
        </Dialog.Title>
        <span class="lightbox-position" role="status" data-testid="lightbox-position">
          {at() === -1 ? '' : en.lightbox.position(at() + 1, images().length)}
        </span>
        <IconButton icon={ZoomOut} label={en.lightbox.zoomOut} keys="-" onClick={() => picture?.zoom(-1)} />
        <IconButton icon={ZoomIn} label={en.lightbox.zoomIn} keys="+" onClick={() => picture?.zoom(1)} />
        <IconButton icon={Maximize} label={en.lightbox.fit} keys="0" onClick={() => picture?.fit()} />
        <IconButton icon={Copy} label={en.lightbox.copy} keys={keyName('C')} onClick={copy} />
        <IconButton icon={Download} label={en.lightbox.save} keys={keyName('S')} onClick={save} />
        <DialogClose label={en.lightbox.close} />
      </header>
      <Show when={image()} keyed fallback={<p class="lightbox-note">{all.loading ? en.lightbox.loading : en.lightbox.broken}</p>}>
        {(shown) => (
          <Picture src={app.host.pictureURL(shown.url)} name={name()} ref={(own) => (picture = own)} />
        )}
      </Show>
      <IconButton
        class="lightbox-step"
        data-side="left"
        icon={ChevronLeft}
        size={22}
        label={en.lightbox.previous}
        keys="←"
        disabled={at() <= 0}
        onClick={() => go(-1)}
      />
      <IconButton
        class="lightbox-step"
        data-side="right"
        icon={ChevronRight}
        size={22}
        label={en.lightbox.next}
        keys="→"
        disabled={at() === -1 || at() === images().length - 1}
        onClick={() => go(1)}
      />
    </Dialog.Content>
  );
}

function findLoaded(views: readonly PartView[], partID: string): SessionImage | undefined {
  const file = views.flatMap(({ part }) => filesOf(part)).find((one) => one.id === partID);
  if (!file) return undefined;
  return { messageID: file.messageID, partID, url: file.url, name: file.filename ?? '', mime: file.mime };
}

function filesOf(part: Part): readonly FilePart[] {
  if (part.type === 'file') return [part];
  return part.type === 'tool' && part.state.status === 'completed' ? (part.state.attachments ?? []) : [];
}
