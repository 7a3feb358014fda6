import CirclePause from 'lucide-solid/icons/circle-pause';
import { createEffect, Index, on, Show, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { Card } from '../kit/Card';
import { useApp } from '../store/context';
import type { RunCall } from './runs';
import { ToolCard } from './ToolCard';
import { isWaiting } from './waiting';

interface CallsCardProps {
  readonly calls: readonly RunCall[];
  readonly icon: Icon;
  readonly title: string;
  readonly subtitle: string;
  readonly aside: JSX.Element;
}

/** A run of calls: one line that expands to all of them. */
export function CallsCard(props: CallsCardProps) {
  const app = useApp();
  const name = () => `run:${props.calls[0]?.part.id ?? ''}`;
  const holdsOpen = () => props.calls.some(({ part }) => app.expanded.get(part.id) === true);
  createEffect(
    on(app.target, (target) => {
      if (props.calls.some(({ part }) => part.id === target?.partID)) app.expanded.set(name(), true);
    }),
  );
  return (
    <div class="part run" data-run={props.calls.length} data-status={isRunning(props.calls) ? 'running' : 'completed'}>
      <Card
        icon={props.icon}
        open={holdsOpen()}
        remembered={name()}
        title={props.title}
        subtitle={props.subtitle}
        aside={props.aside}
      >
        <div class="run-calls">
          <Index each={props.calls}>
            {(call) => (
              <div class="part" data-part="tool" data-part-id={call().part.id} data-status={call().part.state.status}>
                <ToolCard part={call().part} />
              </div>
            )}
          </Index>
        </div>
      </Card>
    </div>
  );
}

/** What a run that has not ended does, or that one of its calls waits for an answer. */
export function RunningWord(props: { calls: readonly RunCall[]; word: string }) {
  const app = useApp();
  const waiting = () => props.calls.some(({ part }) => isWaiting(app, part));
  return (
    <Show when={waiting()} fallback={<Running word={props.word} />}>
      <CirclePause size={13} aria-hidden="true" />
      <span>{en.permission.waiting}</span>
    </Show>
  );
}

function Running(props: { word: string }) {
  return (
    <>
      <span class="spinner" aria-hidden="true" />
      <span>{props.word}</span>
    </>
  );
}

export function isRunning(calls: readonly RunCall[]): boolean {
  return calls.some(({ part }) => part.state.status !== 'completed');
}
