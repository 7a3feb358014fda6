import Ban from 'lucide-solid/icons/ban';
import CircleDashed from 'lucide-solid/icons/circle-dashed';
import CirclePause from 'lucide-solid/icons/circle-pause';
import CircleStop from 'lucide-solid/icons/circle-stop';
import CircleX from 'lucide-solid/icons/circle-x';
import { createMemo, For, Match, Show, Switch } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import type { MenuItem } from '../kit/Menu';
import { Card, type CardTone } from '../kit/Card';
import { copyText } from '../kit/clipboard';
import { offer } from '../kit/offers';
import { fileItems } from '../kit/places';
import { longDuration } from '../text/format';
import { linkTo } from '../text/place-link';
import { visible } from '../text/visible';
import type { CallOutcome, ToolPart, ToolState } from '../protocol';
import { useApp } from '../store/context';
import { changeOf, endingOf, isFailedCommand, metadataOf, outcomeOf, uncoveredOf, workedFor } from './outcome';
import { createDetails } from './details';
import { inputOf, word } from './input';
import { lookOf } from './registry';
import { isWaiting } from './waiting';

/** Denied, not run and stopped are not failures, and look different from one. */
const OUTCOMES: { [O in CallOutcome]: { readonly icon: Icon; readonly tone: CardTone } } = {
  denied: { icon: Ban, tone: 'warn' },
  not_run: { icon: CircleDashed, tone: 'quiet' },
  stopped: { icon: CircleStop, tone: 'plain' },
};

/** A tool call: one line with its state, which expands to all details. */
export function ToolCard(props: { part: ToolPart; blocks?: readonly string[] }) {
  const app = useApp();
  const look = createMemo(() => lookOf(props.part.tool));
  const state = () => props.part.state;
  const outcome = () => outcomeOf(props.part);
  const waiting = createMemo(() => state().status === 'running' && isWaiting(app, props.part));
  const tone = (): CardTone => {
    const ended = outcome();
    if (ended) return OUTCOMES[ended].tone;
    if (waiting()) return 'warn';
    return state().status === 'error' ? 'danger' : 'plain';
  };
  const input = createMemo(() => inputOf(state()));
  const title = () => look().heading?.(input(), undefined) || look().title;
  const subtitle = () => {
    // The request shows the whole command, or the question; once is enough.
    if (waiting() && look().heading) return '';
    if (state().status === 'error' && Object.keys(input()).length === 0) return errorOf(state());
    return look().subtitle(input(), app.session()?.directory, metadataOf(props.part)) || titleOf(state());
  };
  let card!: HTMLDivElement;
  const items = (): MenuItem[] => {
    const head = card.querySelector<HTMLElement>('.card-head');
    const isOpen = head?.getAttribute('aria-expanded') === 'true';
    const [command, file] = [word(input(), 'command'), word(input(), 'filePath')];
    const { sessionID, messageID, id } = props.part;
    return [
      ...(head ? [{ label: isOpen ? en.menu.collapse : en.menu.expand, run: () => head.click() }] : []),
      ...(command === '' ? [] : [{ label: en.menu.copyCommand, run: () => void copyText(command) }]),
      ...(file === '' ? [] : fileItems(app, file, undefined)),
      { label: en.work.turn.copyLink, run: () => void copyText(linkTo({ sessionID, messageID, partID: id })) },
    ];
  };
  return (
    <div
      class="tool"
      ref={(element) => {
        card = element;
        offer(element, items);
      }}
      data-tool={props.part.tool}
      data-status={state().status}
      data-outcome={outcome()}
      data-waiting={waiting() ? '' : undefined}
    >
      <Card
        remembered={props.part.id}
        icon={look().icon}
        title={firstLine(waiting() && props.part.tool === 'question' ? look().title : title())}
        subtitle={firstLine(subtitle())}
        tone={tone()}
        open={!waiting() && opensItself(props.part)}
        aside={
          <>
            <For each={look().args?.(input()) ?? []}>{(arg) => <span class="card-arg">{visible(arg)}</span>}</For>
            <Show when={uncoveredOf(props.part)}>
              {(lines) => (
                <span class="card-arg" data-testid="uncovered" title={visible(lines().join('\n'))}>
                  {en.tool.uncovered}
                </span>
              )}
            </Show>
            <Aside part={props.part} waiting={waiting()} />
          </>
        }
      >
        <Body part={props.part} live={props.blocks?.[0]} />
      </Card>
    </div>
  );
}

/** Created when the card is opened, which loads the details. */
function Body(props: { part: ToolPart; live?: string }) {
  const details = createDetails(() => props.part);
  return (
    <>
      <Dynamic component={lookOf(props.part.tool).details} part={props.part} live={props.live} details={details} />
      <For each={uncoveredOf(props.part)}>{(line) => <p class="card-label">{visible(line)}</p>}</For>
    </>
  );
}

/** A running command shows its output, and a failed one the end of it. One that went well is a line again. */
function opensItself(part: ToolPart): boolean {
  if (part.state.status === 'running') return part.tool === 'bash' || part.tool === 'task';
  return isFailedCommand(part);
}

function Aside(props: { part: ToolPart; waiting: boolean }) {
  const state = () => props.part.state;
  const took = () => longDuration(workedFor(props.part));
  return (
    <Switch>
      <Match when={state().status === 'pending'}>
        <span>{en.tool.pending}</span>
      </Match>
      <Match when={props.waiting}>
        <CirclePause size={13} aria-hidden="true" />
        <span>{en.permission.waiting}</span>
      </Match>
      <Match when={state().status === 'running'}>
        <span class="spinner" aria-hidden="true" />
        <span>{en.tool.running}</span>
      </Match>
      <Match when={outcomeOf(props.part)}>
        {(outcome) => (
          <>
            <Dynamic component={OUTCOMES[outcome()].icon} size={13} aria-hidden="true" />
            <span>{en.tool.outcomes[outcome()]}</span>
          </>
        )}
      </Match>
      <Match when={state().status === 'error'}>
        <CircleX size={13} aria-hidden="true" />
        <span>{en.tool.error}</span>
      </Match>
      <Match when={state().status === 'completed'}>
        <Show when={changeOf(props.part)}>
          {(change) => <Counts additions={change().additions} deletions={change().deletions} />}
        </Show>
        <Show when={endingOf(props.part)}>{(ending) => <span class="exit-code">{ending()}</span>}</Show>
        <span class="visually-hidden">{en.tool.completed}</span>
        <Show when={took()}>{(long) => <span>{long()}</span>}</Show>
      </Match>
    </Switch>
  );
}

function titleOf(state: ToolState): string {
  return state.status === 'running' || state.status === 'completed' ? (state.title ?? '') : '';
}

function errorOf(state: ToolState): string {
  return state.status === 'error' ? state.error : '';
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
