import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import { offer } from './offers';
import { fileItems } from './places';
import { visibleLine } from '../text/visible';
import './file-link.css';

/** A file of the project, by its path. A click opens it in the editor. */
export function FileLink(props: { path: string; line?: number; class?: string; label?: string }) {
  const app = useApp();
  return (
    <button
      type="button"
      ref={(link) => offer(link, () => fileItems(app, props.path, props.line))}
      class={`file-link ${props.class ?? ''}`}
      data-path={props.path}
      data-line={props.line}
      title={en.part.openInEditor(visibleLine(props.path), props.line)}
      onClick={(event) => {
        event.stopPropagation();
        void app.openFile(props.path, props.line);
      }}
    >
      <bdi>{visibleLine(props.label ?? props.path)}</bdi>
      <Show when={props.line !== undefined && props.label === undefined}>
        <span class="file-link-line">:{props.line}</span>
      </Show>
    </button>
  );
}
