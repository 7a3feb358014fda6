import Circle from 'lucide-solid/icons/circle';
import CircleCheck from 'lucide-solid/icons/circle-check';
import CircleDot from 'lucide-solid/icons/circle-dot';
import CircleSlash from 'lucide-solid/icons/circle-slash';
import { For, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { visible } from '../text/visible';
import type { Todo, ToolPart } from '../protocol';
import { GenericDetails, type DetailsProps } from './GenericDetails';

const ICONS: Readonly<Record<string, Icon>> = {
  in_progress: CircleDot,
  completed: CircleCheck,
  cancelled: CircleSlash,
};

/** The todo list that the call wrote or read. */
export function TodoDetails(props: DetailsProps) {
  const failed = () => props.part.state.status === 'error';
  return (
    <Show when={!failed() && todosOf(props.part).length > 0} fallback={<GenericDetails {...props} />}>
      <ul class="checklist" aria-label={en.tool.todos}>
        <For each={todosOf(props.part)}>
          {(todo) => (
            <li class="check-item" data-status={todo.status}>
              <Dynamic component={ICONS[todo.status] ?? Circle} size={14} aria-hidden="true" />
              <span>{visible(todo.content)}</span>
              <span class="visually-hidden">{en.tool.todoStatus[todo.status] ?? todo.status}</span>
              <Show when={todo.priority === 'high'}>
                <span class="check-priority">{en.tool.highPriority}</span>
              </Show>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}

/** From the result, or else from the input. */
function todosOf(part: ToolPart): readonly Todo[] {
  const { state } = part;
  const stored = state.status === 'completed' ? state.metadata?.['todos'] : undefined;
  const list = stored ?? state.input?.['todos'];
  return Array.isArray(list) ? list.filter(isTodo) : [];
}

function isTodo(value: unknown): value is Todo {
  return typeof value === 'object' && value !== null && 'content' in value && 'status' in value;
}
