import { createMemo, ErrorBoundary, For, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import type { MessageView, Part, PartView } from '../protocol';
import { rendererOf } from './registry';
import { UnknownPart } from './UnknownPart';

/** The parts of a message. Keyed by id: an update reaches a part's own nodes, it makes no new ones. */
export function PartList(props: { message: MessageView }) {
  const ids = createMemo(() => props.message.parts.map((view) => view.part.id));
  const byID = createMemo(() => new Map(props.message.parts.map((view) => [view.part.id, view])));
  return (
    <For each={ids()}>
      {(id) => {
        const view = createMemo(() => byID().get(id));
        return <Show when={view()}>{(found) => <PartSlot view={found()} message={props.message.info} />}</Show>;
      }}
    </For>
  );
}

export function PartSlot(props: { view: PartView; message: MessageView['info'] }) {
  const part = () => props.view.part;
  // A part of a known type that lacks a field reaches us too: it must not take its message along.
  return (
    <div class="part" data-part={part().type} data-part-id={part().id} data-status={statusOf(part())}>
      <ErrorBoundary fallback={<UnknownPart part={part()} />}>
        <Dynamic component={rendererOf(part().type)} part={part()} blocks={props.view.blocks} message={props.message} />
      </ErrorBoundary>
    </div>
  );
}

function statusOf(part: Part): string | undefined {
  return part.type === 'tool' ? part.state?.status : undefined;
}
