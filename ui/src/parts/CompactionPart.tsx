import { en } from '../i18n/en';
import type { PartProps } from './registry';

export function CompactionPart(props: PartProps<'compaction'>) {
  return (
    <div class="divider" role="separator">
      <span>{props.part.auto ? en.part.compactionAuto : en.part.compaction}</span>
    </div>
  );
}
