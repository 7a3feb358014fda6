import CircleX from 'lucide-solid/icons/circle-x';
import { createMemo, Match, Switch } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import { Card } from '../kit/Card';
import { duration } from '../kit/format';
import type { ToolPart, ToolState } from '../protocol';
import { useApp } from '../store/context';
import { lookOf } from './registry';

export function ToolCard(props: { part: ToolPart }) {
  const app = useApp();
  const look = createMemo(() => lookOf(props.part.tool));
  const state = () => props.part.state;
  const subtitle = () => {
    const said = look().subtitle(state().input ?? {}, app.session()?.directory);
    return said || titleOf(state());
  };
  return (
    <div class="tool" data-tool={props.part.tool} data-status={state().status}>
      <Card
        icon={look().icon}
        title={look().title}
        subtitle={firstLine(subtitle())}
        tone={state().status === 'error' ? 'danger' : 'plain'}
        aside={<Aside state={state()} />}
      >
        <Dynamic component={look().details} part={props.part} />
      </Card>
    </div>
  );
}

function Aside(props: { state: ToolState }) {
  const took = () => {
    const { state } = props;
    return 'time' in state && 'end' in state.time ? duration(state.time.end - state.time.start) : '';
  };
  return (
    <Switch>
      <Match when={props.state.status === 'pending'}>
        <span>{en.tool.pending}</span>
      </Match>
      <Match when={props.state.status === 'running'}>
        <span class="spinner" aria-hidden="true" />
        <span>{en.tool.running}</span>
      </Match>
      <Match when={props.state.status === 'error'}>
        <CircleX size={13} aria-hidden="true" />
        <span>{en.tool.error}</span>
      </Match>
      <Match when={props.state.status === 'completed'}>
        <span class="visually-hidden">{en.tool.completed}</span>
        <span>{took()}</span>
      </Match>
    </Switch>
  );
}

function titleOf(state: ToolState): string {
  return state.status === 'running' || state.status === 'completed' ? (state.title ?? '') : '';
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
