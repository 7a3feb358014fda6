import CircleHelp from 'lucide-solid/icons/circle-question-mark';
import { en } from '../i18n/en';
import { Card } from '../kit/Card';
import { LongText } from '../kit/LongText';

/** A part that this version does not know. Shown as data. */
export function UnknownPart(props: { part: { readonly type: string; readonly id?: string } }) {
  return (
    <Card
      icon={CircleHelp}
      title={en.part.unknown(props.part.type)}
      subtitle={en.part.unknownHint}
      remembered={props.part.id}
    >
      <pre class="card-code"><LongText text={JSON.stringify(props.part, undefined, 2)} /></pre>
    </Card>
  );
}
