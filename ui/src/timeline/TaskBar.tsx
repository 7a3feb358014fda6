import ArrowLeft from 'lucide-solid/icons/arrow-left';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import { titleOf } from '../store/titles';

/** Shown above the session of a task: a link to its parent. */
export function TaskBar() {
  const app = useApp();
  return (
    <Show when={app.session()?.parentID}>
      {(parent) => (
        <button type="button" class="task-bar" data-testid="back-to-parent" onClick={() => void app.select(parent())}>
          <ArrowLeft size={13} aria-hidden="true" />
          {en.part.backToParent(titleOf(app.sessions.get(parent())))}
        </button>
      )}
    </Show>
  );
}
