import Camera from 'lucide-solid/icons/camera';
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Fold } from '../kit/Fold';
import { visible } from '../text/visible';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

/** A snapshot that the person has named. One that a revert took is nothing to look at: the revert itself can be undone. */
export function SnapshotPart(props: PartProps<'snapshot'>) {
  const app = useApp();
  const restore = () => {
    const { messageID, id } = props.part;
    void app.review.ask({ kind: 'snapshot', messageID, partID: id });
  };
  return (
    <Show when={props.part.name}>
      {(name) => (
        <div class="snapshot">
          <div class="meta-line">
            <Camera size={13} aria-hidden="true" />
            <span class="snapshot-words" title={props.part.snapshot}>
              {en.part.namedSnapshot(visible(name()))}
            </span>
            <button
              type="button"
              class="snapshot-restore"
              data-testid="restore-snapshot"
              aria-label={en.part.restoreSnapshot}
              title={en.part.restoreSnapshot}
              disabled={app.busy()}
              onClick={restore}
            >
              {en.part.restore}
            </button>
          </div>
          <Show when={(props.part.skipped?.length ?? 0) > 0}>
            <Fold label={en.part.skipped(props.part.skipped?.length ?? 0)} remembered={props.part.id}>
              <ul class="snapshot-skipped">
                <For each={props.part.skipped}>{(one) => <li>{visible(one)}</li>}</For>
              </ul>
            </Fold>
          </Show>
        </div>
      )}
    </Show>
  );
}
