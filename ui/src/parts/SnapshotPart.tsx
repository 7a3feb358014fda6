import Camera from 'lucide-solid/icons/camera';
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Fold } from '../kit/Fold';
import { visible } from '../text/visible';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

const NAMED = 3;

/** A snapshot of the files: named by the person, or taken before a revert. Others are marks that nobody reads. */
export function SnapshotPart(props: PartProps<'snapshot'>) {
  const app = useApp();
  const takenBack = () => props.part.takenBack?.files ?? [];
  const name = () => props.part.name;
  const words = () => {
    const given = name();
    return given === undefined ? en.part.beforeTakingBack(takenBack().length) : en.part.namedSnapshot(visible(given));
  };
  const restore = () => {
    const { messageID, id } = props.part;
    void app.review.ask({ kind: 'snapshot', messageID, partID: id });
  };
  return (
    <Show when={name() !== undefined || takenBack().length > 0}>
      <div class="snapshot" data-named={name() === undefined ? undefined : ''}>
        <div class="meta-line">
          <Camera size={13} aria-hidden="true" />
          <span class="snapshot-words" title={props.part.snapshot}>
            {words()}
          </span>
          <For each={takenBack().slice(0, NAMED)}>{(file) => <code>{visible(file)}</code>}</For>
          <Show when={takenBack().length > NAMED}>
            <span>+{takenBack().length - NAMED}</span>
          </Show>
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
    </Show>
  );
}
