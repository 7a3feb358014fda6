import AtSign from 'lucide-solid/icons/at-sign';
import { en } from '../i18n/en';
import { visibleLine } from '../text/visible';
import type { PartProps } from './registry';

export function AgentPart(props: PartProps<'agent'>) {
  return (
    <span class="chip agent-chip" title={en.part.agent(visibleLine(props.part.name))}>
      <AtSign size={12} aria-hidden="true" />
      {visibleLine(props.part.name)}
    </span>
  );
}
