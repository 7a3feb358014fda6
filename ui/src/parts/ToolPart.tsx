import { ToolCard } from '../tools/ToolCard';
import type { PartProps } from './registry';

export function ToolPart(props: PartProps<'tool'>) {
  return <ToolCard part={props.part} blocks={props.blocks} />;
}
