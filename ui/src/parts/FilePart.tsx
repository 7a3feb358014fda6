import File from 'lucide-solid/icons/file';
import FileCode from 'lucide-solid/icons/file-code';
import FileText from 'lucide-solid/icons/file-text';
import Folder from 'lucide-solid/icons/folder';
import Image from 'lucide-solid/icons/image';
import Plug from 'lucide-solid/icons/plug';
import { Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { baseName, relativePath } from '../kit/format';
import { visible } from '../kit/visible';
import { isPicture, openLightbox } from '../media/lightbox';
import type { FilePart as FilePartData } from '../protocol';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

/** Twice the height it is drawn at, for fine screens. */
const THUMB = 480;

export function FilePart(props: PartProps<'file'>) {
  return <FileChip file={props.part} />;
}

/** An attachment in one line; a picture that came with its bytes also as a thumbnail. */
export function FileChip(props: { file: FilePartData }) {
  const app = useApp();
  const name = () => visible(nameOf(props.file, app.session()?.directory));
  return (
    <figure class="file-chip" data-mime={props.file.mime}>
      <Show when={isPicture(props.file)}>
        <button
          type="button"
          class="file-open"
          aria-label={en.lightbox.open(name())}
          onClick={() => openLightbox(app, props.file.sessionID, props.file.id)}
        >
          <img
            class="file-thumb"
            src={app.host.pictureURL(props.file.url, THUMB)}
            alt={name()}
            loading="lazy"
            decoding="async"
          />
        </button>
      </Show>
      <figcaption title={name()}>
        <Dynamic component={iconOf(props.file)} size={14} aria-hidden="true" />
        <span class="file-name">{name()}</span>
        <Show when={rangeOf(props.file)}>{(range) => <span class="file-range">{range()}</span>}</Show>
      </figcaption>
    </figure>
  );
}

function nameOf(file: FilePartData, root: string | undefined): string {
  const { source } = file;
  if (source?.type === 'symbol') return `${source.name} · ${relativePath(source.path, root)}`;
  if (source?.type === 'resource') return `${source.clientName} · ${source.uri}`;
  if (source?.type === 'file') return relativePath(source.path, root);
  if (file.filename) return file.filename;
  if (!file.url.startsWith('file://')) return en.part.attachment;
  return baseName(decodeURI(file.url.replace(/[?#].*$/, '')));
}

function rangeOf(file: FilePartData): string | undefined {
  const query = /^file:\/\/[^?]*\?(.*)$/.exec(file.url)?.[1];
  const start = Number(new URLSearchParams(query).get('start'));
  if (!start) return undefined;
  return en.part.lines(start, Number(new URLSearchParams(query).get('end')) || start);
}

function iconOf(file: FilePartData): Icon {
  if (file.source?.type === 'resource') return Plug;
  if (file.mime === 'application/x-directory') return Folder;
  if (file.mime.startsWith('image/')) return Image;
  if (file.mime === 'application/pdf') return FileText;
  if (file.mime.startsWith('text/')) return FileCode;
  return File;
}
