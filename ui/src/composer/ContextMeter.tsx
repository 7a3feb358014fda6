/** How full the model's context is and what the session cost, with details in a popover. */
import { Popover } from '@kobalte/core/popover';
import FoldVertical from 'lucide-solid/icons/fold-vertical';
import { createSignal, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { count, money } from '../text/format';
import type { ContextUse } from '../protocol';
import { useApp } from '../store/context';
import { useMeterValues } from './meter-values';
import type { Usage } from './usage';
import './meter.css';

const ROUND = 2 * Math.PI * 6;
/** From this share on, the meter warns. */
const NEARLY = 0.85;

export function ContextMeter() {
  const app = useApp();
  const [open, setOpen] = createSignal(false);
  const { context, spent, answered } = useMeterValues();
  const cost = () => spent()?.cost ?? 0;
  const share = () => {
    const { used, usable } = context();
    return usable === 0 ? 0 : Math.min(1, used / usable);
  };
  const percent = () => `${Math.round(share() * 100)}%`;
  const said = () => (context().usable === 0 ? en.context.unknown(count(context().used)) : en.context.share(percent()));
  const sumUp = () => {
    setOpen(false);
    void app.compact();
  };

  return (
    <Show when={answered()}>
      <Popover placement="top-end" gutter={6} modal={false} open={open()} onOpenChange={setOpen}>
        <Popover.Trigger
          class="choice meter"
          data-testid="context-meter"
          data-full={share() > NEARLY ? '' : undefined}
          aria-label={en.context.button(said(), money(cost()))}
          title={en.context.button(said(), money(cost()))}
        >
          <svg class="meter-ring" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <circle class="meter-track" cx="8" cy="8" r="6" />
            <circle class="meter-used" cx="8" cy="8" r="6" stroke-dasharray={`${share() * ROUND} ${ROUND}`} />
          </svg>
          <span class="choice-words">{context().usable === 0 ? count(context().used) : percent()}</span>
          <Show when={cost() > 0}>
            <span class="meter-cost" data-testid="session-cost">
              {money(cost())}
            </span>
          </Show>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content class="panel meter-popover" aria-label={en.context.title}>
            <p class="meter-title">{en.context.title}</p>
            <dl class="meter-facts">
              <ContextFacts use={context()} />
              <Show when={spent()}>{(all) => <SpentFacts spent={all()} />}</Show>
            </dl>
            <p class="meter-note" data-testid="context-note" data-full={context().willCompact ? '' : undefined}>
              {outlook(context())}
            </p>
            <Button
              icon={FoldVertical}
              data-testid="compact"
              disabled={app.busy() || context().used === 0}
              title={app.busy() ? en.context.sumUpBusy : undefined}
              onClick={sumUp}
            >
              {en.context.sumUp}
            </Button>
          </Popover.Content>
        </Popover.Portal>
      </Popover>
    </Show>
  );
}

function ContextFacts(props: { use: ContextUse }) {
  return (
    <>
      <dt>{en.context.used}</dt>
      <dd data-testid="context-used">
        {props.use.used === 0 ? en.context.notYet : en.context.of(count(props.use.used), props.use.limit)}
      </dd>
      <Show when={props.use.usable > 0}>
        <dt>{en.context.compactsAt}</dt>
        <dd>{count(props.use.usable)}</dd>
      </Show>
    </>
  );
}

function SpentFacts(props: { spent: Usage }) {
  return (
    <>
      <dt>{en.context.total}</dt>
      <dd data-testid="session-tokens">{en.context.tokens(count(props.spent.input), count(props.spent.output))}</dd>
      <dt>{en.context.cached}</dt>
      <dd>{count(props.spent.cached)}</dd>
      <dt>{props.spent.tasks === 0 ? en.context.cost : en.context.costWithTasks}</dt>
      <dd data-testid="cost-in-all">{money(props.spent.cost) || en.context.free}</dd>
      <Show when={props.spent.tasks > 0}>
        <dt>{en.context.taskCost(props.spent.tasks)}</dt>
        <dd>{money(props.spent.taskCost) || en.context.free}</dd>
      </Show>
    </>
  );
}

/** Explains what happens when the context is full. */
function outlook({ used, usable, willCompact }: ContextUse): string {
  if (willCompact) return en.context.willCompact;
  if (usable === 0) return en.context.noLimit;
  return used >= usable ? en.context.full : en.context.compaction(count(usable));
}
