import ArrowRight from 'lucide-solid/icons/arrow-right';
import Check from 'lucide-solid/icons/check';
import CircleX from 'lucide-solid/icons/circle-x';
import { createEffect, Index, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visibleLine } from '../text/visible';
import type { ToolPart } from '../protocol';
import { useApp } from '../store/context';
import { Outcome, type DetailsProps } from './GenericDetails';
import { word } from './input';
import { lookOf } from './registry';
import { Section } from './Section';

/** A task: its prompt, its steps and its result. */
export function TaskDetails(props: DetailsProps) {
  const app = useApp();
  const prompt = () => word(props.details.input(), 'prompt');
  const steps = () => stepsOf(props.part);
  return (
    <>
      <Show when={prompt() !== ''}>
        <Section label={en.tool.taskPrompt} text={prompt()} />
      </Show>
      <Show when={steps().length > 0}>
        <Steps steps={steps()} live={props.part.state.status === 'running'} />
      </Show>
      <Show when={childOf(props.part)}>
        {(child) => (
          <div class="card-actions">
            <Button icon={ArrowRight} data-testid="open-task" onClick={() => void app.select(child())}>
              {en.tool.openTask}
            </Button>
          </div>
        )}
      </Show>
      <Outcome {...props} />
    </>
  );
}

/** The steps. While the task runs, the view follows the newest one unless the reader scrolled up. */
function Steps(props: { steps: readonly TaskStep[]; live: boolean }) {
  let list!: HTMLUListElement;
  let atEnd = true;
  createEffect(() => {
    if (props.steps.length > 0 && props.live && atEnd) list.scrollTop = list.scrollHeight;
  });
  return (
    <ul
      class="task-steps"
      ref={list}
      aria-label={en.tool.taskSteps}
      onScroll={() => (atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 8)}
    >
      {/* By place: a step changes its state and keeps its line. */}
      <Index each={props.steps}>
        {(step) => (
          <li class="task-step" data-tool={step().tool} data-status={step().status}>
            <StepMark status={step().status} />
            <span>{visibleLine(lookOf(step().tool).title)}</span>
            <code>{visibleLine(step().title)}</code>
          </li>
        )}
      </Index>
    </ul>
  );
}

function StepMark(props: { status: string }) {
  return (
    <Show
      when={props.status === 'completed' || props.status === 'error'}
      fallback={<span class="spinner" aria-label={en.tool.running} role="img" />}
    >
      <Show when={props.status === 'error'} fallback={<Check size={12} aria-label={en.tool.completed} />}>
        <CircleX size={12} aria-label={en.tool.error} />
      </Show>
    </Show>
  );
}

interface TaskStep {
  readonly tool: string;
  readonly status: string;
  readonly title: string;
}

function metadataOf({ state }: ToolPart): Readonly<Record<string, unknown>> {
  return state.status === 'pending' ? {} : (state.metadata ?? {});
}

/** The session of the task, once it has started. */
export function childOf(part: ToolPart): string | undefined {
  const id = metadataOf(part)['sessionId'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function stepsOf(part: ToolPart): readonly TaskStep[] {
  const list = metadataOf(part)['summary'];
  if (!Array.isArray(list)) return [];
  return list.map((one: { tool?: unknown; state?: { status?: unknown; title?: unknown } }) => ({
    tool: String(one?.tool ?? ''),
    status: String(one?.state?.status ?? ''),
    title: String(one?.state?.title ?? ''),
  }));
}
