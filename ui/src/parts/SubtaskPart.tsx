import Split from 'lucide-solid/icons/split';
import { en } from '../i18n/en';
import { Card } from '../kit/Card';
import type { PartProps } from './registry';

export function SubtaskPart(props: PartProps<'subtask'>) {
  return (
    <Card icon={Split} title={en.part.subtask(props.part.agent)} subtitle={props.part.description}>
      <p class="plain-text">{props.part.prompt}</p>
    </Card>
  );
}
