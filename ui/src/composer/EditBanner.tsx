import Pencil from 'lucide-solid/icons/pencil';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { useApp } from '../store/context';

/** Shown above the field while an earlier prompt is edited: what sending it will do. */
export function EditBanner() {
  const app = useApp();
  return (
    <Show when={app.editing.current()}>
      {(edit) => (
        <div class="edit-banner" data-testid="editing">
          <Pencil size={13} aria-hidden="true" />
          <p class="edit-words">{edit().keepFiles ? en.edit.bannerKeep : en.edit.banner}</p>
          <label class="edit-keep">
            <input
              type="checkbox"
              checked={edit().keepFiles}
              onChange={(event) => app.editing.setKeepFiles(event.currentTarget.checked)}
            />
            {en.edit.keepFiles}
          </label>
          <Button onClick={() => app.editing.cancel()}>{en.edit.cancel}</Button>
        </div>
      )}
    </Show>
  );
}
