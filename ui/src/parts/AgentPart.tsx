import AtSign from 'lucide-solid/icons/at-sign';
import { en } from '../i18n/en';
import type { PartProps } from './registry';

export function AgentPart(props: PartProps<'agent'>) {
  return (
    <span class="chip agent-chip" title={en.part.agent(props.part.name)}>
      <AtSign size={12} aria-hidden="true" />
      {props.part.name}
    </span>
  );
}
