import { Show } from 'solid-js';
import { EditsCard } from './EditsCard';
import { ExploreCard } from './ExploreCard';
import { fileOf, type RunCall } from './runs';

/** Several calls of one kind in one line. */
export function RunCard(props: { calls: readonly RunCall[] }) {
  const file = () => props.calls[0] && fileOf(props.calls[0].part);
  return (
    <Show when={file()} fallback={<ExploreCard calls={props.calls} />}>
      {(edited) => <EditsCard file={edited()} calls={props.calls} />}
    </Show>
  );
}
