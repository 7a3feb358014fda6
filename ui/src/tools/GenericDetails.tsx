import { createMemo, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { FileChip } from '../parts/FilePart';
import type { ToolPart } from '../protocol';
import { Section } from './Section';

/** Any tool call as data: what went in, what came out. */
export function GenericDetails(props: { part: ToolPart }) {
  const input = createMemo(() => shownInput(props.part));
  return (
    <>
      <Show when={input() !== ''}>
        <Section label={en.tool.input} text={input()} />
      </Show>
      <Outcome part={props.part} />
    </>
  );
}

/** The end of a call: its output and attachments, or why there are none. */
export function Outcome(props: { part: ToolPart }) {
  const completed = () => {
    const { state } = props.part;
    return state.status === 'completed' ? state : undefined;
  };
  const failed = () => {
    const { state } = props.part;
    return state.status === 'error' ? state : undefined;
  };
  return (
    <>
      <Show when={failed()}>{(state) => <Section label={en.tool.error} text={state().error} tone="danger" />}</Show>
      <Show when={completed()}>
        {(state) => (
          <>
            <Show when={state().output !== ''} fallback={<p class="card-label">{en.tool.noOutput}</p>}>
              <Section label={en.tool.output} text={state().output} copy={en.part.copyOutput} />
            </Show>
            <Show when={state().time.compacted !== undefined}>
              <p class="card-label">{en.tool.cleared}</p>
            </Show>
            <For each={state().attachments}>{(file) => <FileChip file={file} />}</For>
          </>
        )}
      </Show>
    </>
  );
}

/** While the model still writes the arguments they are text; after that, an object. */
function shownInput({ state }: ToolPart): string {
  if (state.status === 'pending' && state.raw !== '') return state.raw;
  return Object.keys(state.input ?? {}).length === 0 ? '' : JSON.stringify(state.input, undefined, 2);
}
