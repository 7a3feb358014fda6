import Telescope from 'lucide-solid/icons/telescope';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import { CallsCard, isRunning, RunningWord } from './CallsCard';
import { inputOf } from './input';
import { lookOf } from './registry';
import type { RunCall } from './runs';

/** "Explored 7 files": several read-only calls in one line that expands. */
export function ExploreCard(props: { calls: readonly RunCall[] }) {
  const app = useApp();
  const running = () => isRunning(props.calls);
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
  return (
    <CallsCard
      calls={props.calls}
      icon={Telescope}
      title={en.tool.explored(counts().files, counts().searches)}
      subtitle={running() ? last() : ''}
      aside={
        <Show when={running()}>
          <RunningWord calls={props.calls} word={en.tool.exploring} />
        </Show>
      }
    />
  );
}
