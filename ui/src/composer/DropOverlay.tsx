import Paperclip from 'lucide-solid/icons/paperclip';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import './attachments.css';

/** Shown while files are dragged over the window. The shell handles the drag itself. */
export function DropOverlay() {
  const app = useApp();
  return (
    <Show when={app.attachments.hovering()}>
      {(count) => (
        <div class="drop-overlay" data-testid="drop-overlay" role="status">
          <div class="drop-card">
            <Paperclip size={28} aria-hidden="true" />
            <p class="drop-title">{en.attach.drop(count())}</p>
            <p class="drop-note">{en.attach.dropNote}</p>
          </div>
        </div>
      )}
    </Show>
  );
}
