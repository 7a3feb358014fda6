import { Show } from 'solid-js';
import { en } from '../i18n/en';
import type { ToolPart } from '../protocol';
import { Outcome } from './GenericDetails';
import { Section } from './Section';

/** A command and what it printed, also while it still prints. */
export function BashDetails(props: { part: ToolPart }) {
  const command = () => String(props.part.state.input?.['command'] ?? '');
  const soFar = () => {
    const { state } = props.part;
    const output = state.status === 'running' ? state.metadata?.['output'] : undefined;
    return typeof output === 'string' ? output : undefined;
  };
  return (
    <>
      <Show when={command() !== ''}>
        <Section label={en.tool.command} text={command()} />
      </Show>
      <Show when={soFar()}>{(output) => <Section label={en.tool.output} text={output()} />}</Show>
      <Outcome part={props.part} />
    </>
  );
}
