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
import { outcomeOf } from './outcome';
import { Labelled, Section } from './Section';

export interface DetailsProps {
  readonly part: ToolPart;
  readonly details: Details;
  /** The last output of a running command, as sanitised HTML. */
  readonly live?: string;
}

/** Any tool call: its input and its output. */
export function GenericDetails(props: DetailsProps) {
  return (
    <>
      <Arguments {...props} />
      <Outcome {...props} />
    </>
  );
}

/** A call whose header already shows its arguments. */
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

/** A call that changes files. If no diff can be drawn, its arguments are shown. */
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

/** The arguments are text while they stream in, and an object afterwards. */
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

/** The result of a call: its output and attachments, or its error. */
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
  /** A command has output also if it failed; other calls only if they succeeded. */
  const given = () => completed() !== undefined || terminal() !== undefined;
  const label = () => {
    if (given()) return en.tool.output;
    return failed() ? en.tool.intended : en.tool.intends;
  };
  const cut = () => {
    if (!terminal()?.cut) return undefined;
    // Copies the text that the model got.
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
            <div class="call-files">
              <For each={now().attachments}>{(file) => <FileChip file={file} />}</For>
            </div>
          </>
        )}
      </Show>
    </>
  );
}

/** The file with the full output, if it was truncated. */
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

/** The error, and a button that asks the agent to try again. */
function Failure(props: DetailsProps & { error: string }) {
  const app = useApp();
  const outcome = () => outcomeOf(props.part);
  const label = () => {
    const ended = outcome();
    return ended ? en.tool.outcomes[ended] : en.tool.error;
  };
  const again = () => void app.send(en.tool.tryAgainPrompt(props.part.tool, firstLine(props.error)));
  return (
    <>
      <Section label={label()} text={props.error} tone={outcome() ? undefined : 'danger'} copy={en.part.copyOutput} />
      <Show when={outcome() === undefined}>
        <div class="card-actions">
          <Button icon={RotateCw} data-testid="retry-tool" disabled={app.busy()} onClick={again}>
            {en.tool.tryAgain}
          </Button>
        </div>
      </Show>
    </>
  );
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 200);
}
