import { createEffect, createMemo, ErrorBoundary, For, on, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import type { MessageView, Part, PartView } from '../protocol';
import { RunCard } from '../tools/RunCard';
import type { Runs } from '../tools/runs';
import { rendererOf } from './registry';
import { UnknownPart } from './UnknownPart';

/** The parts of a message. Keyed by id, so that an update changes a part's nodes instead of replacing them. */
export function PartList(props: { message: MessageView; runs?: Runs }) {
  const ids = createMemo(() => props.message.parts.map((view) => view.part.id));
  const byID = createMemo(() => new Map(props.message.parts.map((view) => [view.part.id, view])));
  return (
    <For each={ids()}>
      {(id) => {
        const view = createMemo(() => byID().get(id));
        const run = createMemo(() => props.runs?.get(id));
        return (
          <Show when={view()}>
            {(found) => (
              <Show
                when={run()}
                fallback={
                  <PartSlot view={found()} message={props.message.info} siblings={siblingsOf(props.message, found())} />
                }
              >
                {(calls) => (
                  <Show when={calls()[0]?.part.id === id}>
                    <RunCard calls={calls()} />
                  </Show>
                )}
              </Show>
            )}
          </Show>
        );
      }}
    </For>
  );
}

/** Only the text of a prompt mentions other parts. */
function siblingsOf(message: MessageView, view: PartView): readonly PartView[] | undefined {
  return message.info.role === 'user' && view.part.type === 'text' ? message.parts : undefined;
}

export function PartSlot(props: {
  view: PartView;
  message: MessageView['info'];
  siblings?: readonly PartView[];
}) {
  const part = () => props.view.part;
  // A part of a known type may lack a field; that must not break the whole message.
  return (
    <div
      class="part"
      data-part={part().type}
      data-part-id={part().id}
      data-status={statusOf(part())}
      data-synthetic={isSynthetic(part()) ? '' : undefined}
    >
      <ErrorBoundary fallback={(_error, reset) => <Broken part={part()} reset={reset} />}>
        <Dynamic
          component={rendererOf(part().type)}
          part={part()}
          blocks={props.view.blocks}
          cut={props.view.cut}
          message={props.message}
          siblings={props.siblings}
        />
      </ErrorBoundary>
    </div>
  );
}

/** What cannot be drawn now may be complete with the next update. */
function Broken(props: { part: Part; reset: () => void }) {
  createEffect(on(() => props.part, props.reset, { defer: true }));
  return <UnknownPart part={props.part} />;
}

function statusOf(part: Part): string | undefined {
  return part.type === 'tool' ? part.state?.status : undefined;
}

function isSynthetic(part: Part): boolean {
  return part.type === 'text' && part.synthetic === true;
}
