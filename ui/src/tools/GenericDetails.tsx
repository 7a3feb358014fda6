import RotateCw from 'lucide-solid/icons/rotate-cw';
import { createMemo, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { FileLink } from '../kit/FileLink';
import { visible } from '../text/visible';
import { FileChip } from '../media/FileChip';
import type { ToolPart } from '../protocol';
import { useApp } from '../store/context';
import { BodyView } from './BodyView';
import type { Details } from './details';
import { Labelled, Section } from './Section';

export interface DetailsProps {
  readonly part: ToolPart;
  readonly details: Details;
  /** What a running command has printed last, as sanitised HTML. */
  readonly live?: string;
}

/** Any tool call as data: what went in, what came out. */
export function GenericDetails(props: DetailsProps) {
  return (
    <>
      <Arguments {...props} />
      <Outcome {...props} />
    </>
  );
}

/** A call whose head says all there is to say of its arguments. */
export function OutcomeDetails(props: DetailsProps) {
  const waiting = () => props.part.state.status === 'pending' || props.part.state.status === 'running';
  return (
    <>
      <Show when={waiting() && props.details.value()?.body === undefined}>
        <Arguments {...props} />
      </Show>
      <Outcome {...props} />
    </>
  );
}

/** A call that changes files. Where no change can be drawn, its arguments say what it was to be. */
export function ChangeDetails(props: DetailsProps) {
  const failed = () => props.part.state.status === 'error';
  const bare = () => props.details.value() !== undefined && props.details.value()?.body === undefined;
  return (
    <>
      <OutcomeDetails {...props} />
      <Show when={failed() && bare()}>
        <Arguments {...props} />
      </Show>
    </>
  );
}

/** While the model still writes the arguments they are text; after that, an object. */
export function Arguments(props: DetailsProps) {
  const input = createMemo(() => {
    const { state } = props.part;
    if (state.status === 'pending' && state.raw !== '') return state.raw;
    const full = props.details.value()?.input;
    if (full !== undefined) return full;
    return Object.keys(state.input ?? {}).length === 0 ? '' : JSON.stringify(state.input, undefined, 2);
  });
  return (
    <Show when={input() !== ''}>
      <Section label={en.tool.input} text={input()} />
    </Show>
  );
}

/** The end of a call: its output and attachments, or why there are none. */
export function Outcome(props: DetailsProps) {
  const state = () => props.part.state;
  const completed = () => {
    const now = state();
    return now.status === 'completed' ? now : undefined;
  };
  const failed = () => {
    const now = state();
    return now.status === 'error' ? now : undefined;
  };
  const body = () => props.details.value()?.body;
  const terminal = () => {
    const found = body();
    return found?.kind === 'terminal' ? found : undefined;
  };
  /** What a command printed is output, however it ended; other calls give some only when they succeed. */
  const given = () => completed() !== undefined || terminal() !== undefined;
  const label = () => {
    if (given()) return en.tool.output;
    return failed() ? en.tool.intended : en.tool.intends;
  };
  const cut = () => {
    if (!terminal()?.cut) return undefined;
    // What the model got is what is copied, and where it was not cut that is everything.
    return completed()?.metadata?.['truncated'] === false ? en.tool.cutCopied : en.tool.cut;
  };
  return (
    <>
      <Show when={props.details.error()}>{(why) => <p class="card-label">{en.tool.notLoaded(visible(why()))}</p>}</Show>
      <Show when={failed()}>{(now) => <Failure {...props} error={props.details.value()?.error || now().error} />}</Show>
      <Show when={body()}>
        {(found) => (
          <Labelled
            label={label()}
            copy={given() ? en.part.copyOutput : undefined}
            text={() => props.details.value()?.output ?? ''}
          >
            <Show when={cut()}>{(why) => <p class="card-label">{why()}</p>}</Show>
            <BodyView body={found()} details={props.details} />
          </Labelled>
        )}
      </Show>
      <Show when={failed()}>
        <WholeOutput {...props} />
      </Show>
      <Show when={completed()}>
        {(now) => (
          <>
            <Show when={props.details.value() && !body()}>
              <PlainOutput text={props.details.value()?.output ?? ''} />
            </Show>
            <Show when={props.details.value()?.note}>{(note) => <p class="card-label">{visible(note())}</p>}</Show>
            <WholeOutput {...props} />
            <Show when={now().time.compacted !== undefined}>
              <p class="card-label">{en.tool.cleared}</p>
            </Show>
            <div class="attachments">
              <For each={now().attachments}>{(file) => <FileChip file={file} />}</For>
            </div>
          </>
        )}
      </Show>
    </>
  );
}

/** Of an output that was cut, the file that holds all of it. */
function WholeOutput(props: DetailsProps) {
  return (
    <Show when={props.details.value()?.wholeOutput}>
      {(path) => <FileLink class="card-whole" path={path()} label={en.tool.wholeOutput} />}
    </Show>
  );
}

function PlainOutput(props: { text: string }) {
  return (
    <Show when={props.text.trim() !== ''} fallback={<p class="card-label">{en.tool.noOutput}</p>}>
      <Section label={en.tool.output} text={props.text} copy={en.part.copyOutput} />
    </Show>
  );
}

/** Why it failed, and a way to have it tried again: the agent is asked to. */
function Failure(props: DetailsProps & { error: string }) {
  const app = useApp();
  const again = () => void app.send(en.tool.tryAgainPrompt(props.part.tool, firstLine(props.error)));
  return (
    <>
      <Section label={en.tool.error} text={props.error} tone="danger" copy={en.part.copyOutput} />
      <div class="card-actions">
        <Button icon={RotateCw} data-testid="retry-tool" disabled={app.busy()} onClick={again}>
          {en.tool.tryAgain}
        </Button>
      </div>
    </>
  );
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}
