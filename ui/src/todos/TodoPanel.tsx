/** The agent's todo list, above the composer. It goes when nothing of it is left to do. */
import ChevronRight from 'lucide-solid/icons/chevron-right';
import Circle from 'lucide-solid/icons/circle';
import CircleCheck from 'lucide-solid/icons/circle-check';
import CircleDot from 'lucide-solid/icons/circle-dot';
import CircleSlash from 'lucide-solid/icons/circle-slash';
import { createSignal, createUniqueId, For, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { visible } from '../text/visible';
import type { Todo } from '../protocol';
import { useApp } from '../store/context';
import './todos.css';

const ICONS: Readonly<Record<string, Icon>> = {
  completed: CircleCheck,
  in_progress: CircleDot,
  cancelled: CircleSlash,
};

export function TodoPanel() {
  const app = useApp();
  const [folded, setFolded] = createSignal(false);
  const id = createUniqueId();
  const todos = (): readonly Todo[] => app.timeline.open()?.todos ?? [];
  const done = () => todos().filter((todo) => todo.status === 'completed').length;
  /** The text of the closed list: the todo in progress. */
  const now = () => todos().find((todo) => todo.status === 'in_progress')?.content;

  const isOpen = () => todos().some((todo) => todo.status !== 'completed' && todo.status !== 'cancelled');

  return (
    <Show when={isOpen()}>
      <aside class="todos" data-testid="todos" data-folded={folded() ? '' : undefined} aria-label={en.todos.title}>
        <button
          type="button"
          class="todos-head"
          aria-expanded={!folded()}
          aria-controls={id}
          title={folded() ? en.todos.show : en.todos.hide}
          onClick={() => setFolded(!folded())}
        >
          <ChevronRight class="chevron" size={14} aria-hidden="true" />
          <span class="todos-title">{en.todos.title}</span>
          <Show when={folded() && now()}>
            <span class="todos-now">{visible(now() ?? '')}</span>
          </Show>
          <span class="todos-progress">{en.todos.progress(done(), todos().length)}</span>
        </button>
        <Show when={!folded()}>
          <ul class="todos-list" id={id}>
            <For each={todos()}>
              {(todo) => (
                <li class="todo" data-status={todo.status}>
                  <Dynamic component={ICONS[todo.status] ?? Circle} size={14} aria-hidden="true" />
                  <span class="visually-hidden">{en.todos.status[todo.status] ?? visible(todo.status)}: </span>
                  <span class="todo-words">{visible(todo.content)}</span>
                  <Show when={todo.priority === 'high' && todo.status !== 'completed'}>
                    <span class="todo-high" title={en.todos.high}>
                      !<span class="visually-hidden">{en.todos.high}</span>
                    </span>
                  </Show>
                </li>
              )}
            </For>
          </ul>
        </Show>
      </aside>
    </Show>
  );
}
