import FileDiff from 'lucide-solid/icons/file-diff';
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Card } from '../kit/Card';
import { relativePath } from '../kit/format';
import { visible } from '../kit/visible';
import { useApp } from '../store/context';
import type { PartProps } from './registry';

export function PatchPart(props: PartProps<'patch'>) {
  const app = useApp();
  const files = () => props.part.files.map((file) => relativePath(file, app.session()?.directory));
  return (
    <Show when={props.part.files.length > 0}>
      <Card icon={FileDiff} title={en.part.patch(files().length)} subtitle={files().join(', ')}>
        <ul class="file-list">
          <For each={files()}>
            {(file) => (
              <li>
                <code>{visible(file)}</code>
              </li>
            )}
          </For>
        </ul>
      </Card>
    </Show>
  );
}
