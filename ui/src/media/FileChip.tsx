import File from 'lucide-solid/icons/file';
import FileCode from 'lucide-solid/icons/file-code';
import FileText from 'lucide-solid/icons/file-text';
import Folder from 'lucide-solid/icons/folder';
import Image from 'lucide-solid/icons/image';
import Plug from 'lucide-solid/icons/plug';
import { createSignal, Match, Show, Switch, type JSX } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import type { MenuItem } from '../kit/Menu';
import { offer } from '../kit/offers';
import { fileItems, imageItems } from '../kit/places';
import { filePathOf } from '../text/file-url';
import { baseName, relativePath } from '../text/format';
import { visibleLine } from '../text/visible';
import type { FilePart } from '../protocol';
import { useApp } from '../store/context';
import './file-chip.css';

/** Twice the height on screen, for high-density displays. */
const THUMB = 480;

/** An attachment: a picture as a thumbnail, any other file as a link. */
export function FileChip(props: { file: FilePart }) {
  const app = useApp();
  const name = () => visibleLine(nameOf(props.file, app.session()?.directory));
  const [broken, setBroken] = createSignal(false);
  const picture = () => (broken() || !isPicture(props.file) ? undefined : app.host.pictureURL(props.file.url, THUMB));
  const place = () => placeOf(props.file);

  const openPicture = () => app.show({ name: 'lightbox', sessionID: props.file.sessionID, partID: props.file.id });
  const openPdf = () => {
    const { sessionID, messageID, id } = props.file;
    void app.attempt(() => app.host.openAttachment(sessionID, messageID, id));
  };

  const items = (): MenuItem[] => {
    if (picture()) return [{ label: en.menu.view, run: openPicture }, ...imageItems(app, props.file.url)];
    if (isPdf(props.file)) return [{ label: en.part.openPdf(name()), run: openPdf }];
    const found = place();
    return found ? fileItems(app, found.path, found.line) : [];
  };

  return (
    <figure class="file-chip" data-mime={props.file.mime} ref={(figure) => offer(figure, items)}>
      <Show when={picture()}>
        {(address) => (
          <button type="button" class="file-open" aria-label={en.lightbox.open(name())} onClick={() => openPicture()}>
            <img
              class="file-thumb"
              src={address()}
              alt={name()}
              loading="lazy"
              decoding="async"
              onError={() => setBroken(true)}
            />
          </button>
        )}
      </Show>
      <figcaption title={name()}>
        <Switch fallback={<Caption file={props.file} name={name()} />}>
          {/* First: one that was mentioned has a place too, but an editor cannot show it. */}
          <Match when={isPdf(props.file)}>
            <Act label={en.part.openPdf(name())} run={openPdf}>
              <Caption file={props.file} name={name()} />
            </Act>
          </Match>
          <Match when={place()}>
            {(found) => (
              <Act label={en.part.openInEditor(name(), found().line)} run={() => app.openFile(found().path, found().line)}>
                <Caption file={props.file} name={name()} />
              </Act>
            )}
          </Match>
        </Switch>
      </figcaption>
    </figure>
  );
}

function Act(props: { label: string; run: () => void; children: JSX.Element }) {
  return (
    <button type="button" class="file-act" title={props.label} aria-label={props.label} onClick={() => props.run()}>
      {props.children}
    </button>
  );
}

function Caption(props: { file: FilePart; name: string }) {
  return (
    <>
      <Dynamic component={iconOf(props.file)} size={14} aria-hidden="true" />
      <span class="file-name">{props.name}</span>
      <Show when={rangeOf(props.file)}>
        {(range) => <span class="file-range">{en.part.lines(range().start, range().end)}</span>}
      </Show>
    </>
  );
}

function nameOf(file: FilePart, root: string | undefined): string {
  const { source } = file;
  if (source?.type === 'symbol') return `${source.name} · ${relativePath(source.path, root)}`;
  if (source?.type === 'resource') return `${source.clientName} · ${source.uri}`;
  if (source?.type === 'file') return relativePath(source.path, root);
  if (file.filename) return file.filename;
  const path = filePathOf(file.url);
  return path === undefined ? en.part.attachment : baseName(path);
}

/** Only bitmap formats: an SVG can contain scripts. */
function isPicture(file: { readonly mime: string; readonly url: string }): boolean {
  const pixels = /^image\/(png|jpeg|gif|webp|bmp)$/.test(file.mime);
  return pixels && /^(attachment:|data:image\/(png|jpeg|gif|webp|bmp);base64,)/.test(file.url);
}

/** One whose bytes are stored with the session. */
function isPdf(file: FilePart): boolean {
  return file.mime === 'application/pdf' && /^(attachment|data):/.test(file.url);
}

interface Place {
  readonly path: string;
  readonly line?: number;
}

/** The place to open in the editor. Attachments that came as bytes have none. */
function placeOf(file: FilePart): Place | undefined {
  const { source } = file;
  if (source?.type === 'resource') return undefined;
  if (source?.type === 'symbol') return { path: source.path, line: source.range.start.line + 1 };
  const path = source?.type === 'file' ? source.path : filePathOf(file.url);
  if (path === undefined || path === '') return undefined;
  const line = rangeOf(file)?.start;
  return line === undefined ? { path } : { path, line };
}

function rangeOf(file: FilePart): { start: number; end: number } | undefined {
  if (file.source?.type === 'symbol') {
    const { start, end } = file.source.range;
    return { start: start.line + 1, end: end.line + 1 };
  }
  const query = /^file:\/\/[^?]*\?(.*)$/.exec(file.url)?.[1];
  const start = Number(new URLSearchParams(query).get('start'));
  if (!start) return undefined;
  return { start, end: Number(new URLSearchParams(query).get('end')) || start };
}

function iconOf(file: FilePart): Icon {
  if (file.source?.type === 'resource') return Plug;
  if (file.mime === 'application/x-directory') return Folder;
  if (file.mime.startsWith('image/')) return Image;
  if (file.mime === 'application/pdf') return FileText;
  if (file.mime.startsWith('text/')) return FileCode;
  return File;
}
