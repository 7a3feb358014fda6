import ArrowRight from 'lucide-solid/icons/arrow-right';
import Split from 'lucide-solid/icons/split';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { Card } from '../kit/Card';
import { LongText } from '../kit/LongText';
import type { SubtaskPart as Subtask, ToolPart } from '../protocol';
import { useApp } from '../store/context';
import type { OpenSession } from '../store/timeline';
import { childOf } from '../tools/TaskDetails';
import type { PartProps } from './registry';

/** A task for another agent, with a link to its session. */
export function SubtaskPart(props: PartProps<'subtask'>) {
  const app = useApp();
  const call = createMemo(() => callOf(props.part, app.timeline.open()));
  const child = () => {
    const found = call();
    return found && childOf(found);
  };
  const state = () => {
    const status = call()?.state.status;
    return status === undefined || status === 'pending' ? en.tool.pending : en.tool[status];
  };
  return (
    <Card
      icon={Split}
      remembered={props.part.id}
      title={en.part.subtask(props.part.agent)}
      subtitle={props.part.description}
      aside={<span data-testid="subtask-state">{state()}</span>}
    >
      <p class="plain-text"><LongText text={props.part.prompt} /></p>
      <Show when={child()}>
        {(id) => (
          <div class="card-actions">
            <Button icon={ArrowRight} data-testid="open-task" onClick={() => void app.select(id())}>
              {en.tool.openTask}
            </Button>
          </div>
        )}
      </Show>
    </Card>
  );
}

/** The tool call of this task: it answers the same prompt with the same text. */
function callOf(part: Subtask, open: OpenSession | undefined): ToolPart | undefined {
  const answers = open?.messages.filter(({ info }) => info.role === 'assistant' && info.parentID === part.messageID);
  const calls = answers?.flatMap((message) => message.parts.map((view) => view.part)) ?? [];
  return calls.find(
    (one): one is { type: 'tool' } & ToolPart =>
      one.type === 'tool' && one.tool === 'task' && one.state.input?.['description'] === part.description,
  );
}
