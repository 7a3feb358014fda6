import Camera from 'lucide-solid/icons/camera';
import { en } from '../i18n/en';
import type { PartProps } from './registry';

export function SnapshotPart(props: PartProps<'snapshot'>) {
  return (
    <p class="meta-line" title={props.part.snapshot}>
      <Camera size={13} aria-hidden="true" />
      {en.part.snapshot}
      <code>{props.part.snapshot.slice(0, 8)}</code>
    </p>
  );
}
