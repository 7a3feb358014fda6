import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { RenderedTerminal } from '../kit/RenderedHtml';
import { visible } from '../text/visible';
import { Arguments, Outcome, type DetailsProps } from './GenericDetails';
import { word } from './input';
import { setAsideOf } from './outcome';
import { Labelled } from './Section';

/** A command and its output, also while it runs. */
export function BashDetails(props: DetailsProps) {
  const command = () => word(props.details.input(), 'command');
  const running = () => props.part.state.status === 'running';
  return (
    <Show when={command() !== ''} fallback={<Arguments {...props} />}>
      <Labelled label={en.tool.command} copy={en.tool.copyCommand} text={command}>
        <pre class="card-code card-command" tabindex="0" aria-label={en.tool.command}>
          <code>{visible(command())}</code>
        </pre>
      </Labelled>
      <Show when={running() && props.live !== undefined}>
        <Labelled label={en.tool.soFar}>
          <RenderedTerminal html={props.live ?? ''} label={en.tool.soFar} live />
        </Labelled>
      </Show>
      <Show when={!running()}>
        <Outcome {...props} />
        <Show when={setAsideOf(props.part)}>
          {(names) => <p class="card-label">{en.tool.setAside(names().map(visible).join(', '))}</p>}
        </Show>
      </Show>
    </Show>
  );
}
