import Telescope from 'lucide-solid/icons/telescope';
import { createEffect, createMemo, Index, on, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Card } from '../kit/Card';
import { useApp } from '../store/context';
import { inputOf } from './input';
import { lookOf } from './registry';
import type { RunCall } from './runs';
import { ToolCard } from './ToolCard';

/** "Explored 7 files": several read-only calls in one line that expands. */
export function ExploreCard(props: { calls: readonly RunCall[] }) {
  const app = useApp();
  const running = () => props.calls.some(({ part }) => part.state.status !== 'completed');
  const counts = createMemo(() => {
    const places = new Set(
      props.calls.filter(({ part }) => part.tool === 'read').map(({ part }) => part.state.input?.['filePath'] ?? part.id),
    );
    return { files: places.size, searches: props.calls.filter(({ part }) => part.tool !== 'read').length };
  });
  const last = () => {
    const part = props.calls.at(-1)?.part;
    return part ? lookOf(part.tool).subtitle(inputOf(part.state), app.session()?.directory) : '';
  };
  const name = () => `run:${props.calls[0]?.part.id ?? ''}`;
  const holdsOpen = () => props.calls.some(({ part }) => app.expanded.get(part.id) === true);
  createEffect(
    on(app.target, (target) => {
      if (props.calls.some(({ part }) => part.id === target?.partID)) app.expanded.set(name(), true);
    }),
  );
  return (
    <div class="part explored" data-explored={props.calls.length} data-status={running() ? 'running' : 'completed'}>
      <Card
        icon={Telescope}
        open={holdsOpen()}
        remembered={name()}
        title={en.tool.explored(counts().files, counts().searches)}
        subtitle={running() ? last() : ''}
        aside={
          <Show when={running()}>
            <span class="spinner" aria-hidden="true" />
            <span>{en.tool.exploring}</span>
          </Show>
        }
      >
        <div class="explored-calls">
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
