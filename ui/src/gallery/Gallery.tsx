/**
 * Every part and every tool card in every state, light beside dark, on a scripted host.
 *
 * For work on the design: `cargo xtask run --gallery`. It is a separate chunk that the app never
 * loads.
 */
import { createEffect, For, onMount } from 'solid-js';
import { createFakeHost } from '../host/fake';
import { createClock } from '../host/fake/ids';
import { PartList } from '../parts/PartList';
import type { MessageView } from '../protocol';
import { createApp } from '../store/app';
import { AppProvider } from '../store/context';
import { isPrompt, rooms, SESSION, type Room } from './fixtures';
import './gallery.css';

export function Gallery() {
  const host = createFakeHost();
  const all = rooms(createClock(Date.UTC(2026, 10, 17)));
  const exhibits = all.flatMap((room) => room.exhibits.map((one) => one.message));
  host.messages.set(SESSION, exhibits);
  const app = createApp(host);
  onMount(() => void app.start());
  return (
    <AppProvider value={app}>
      <main class="gallery" data-testid="gallery">
        <h1>Gallery</h1>
        <For each={all}>{(room) => <RoomView room={room} />}</For>
      </main>
    </AppProvider>
  );
}

function RoomView(props: { room: Room }) {
  return (
    <section class="gallery-room" id={props.room.id} data-room={props.room.id}>
      <h2>{props.room.title}</h2>
      <div class="gallery-looks">
        <For each={['light', 'dark'] as const}>
          {(look) => (
            <div class="gallery-look own-scheme" data-look={look}>
              <For each={props.room.exhibits}>{(one) => <ExhibitView name={one.name} message={one.message} />}</For>
            </div>
          )}
        </For>
      </div>
    </section>
  );
}

function ExhibitView(props: { name: string; message: MessageView }) {
  let place!: HTMLDivElement;
  // Opens all cards, to show their content.
  createEffect(() => {
    for (const head of place.querySelectorAll<HTMLElement>('.card-head[aria-expanded=false]')) head.click();
  });
  return (
    <div class="gallery-exhibit" ref={place}>
      <h3>{props.name}</h3>
      <div class={isPrompt(props.message.info) ? 'user-message' : 'assistant-message'}>
        <PartList message={props.message} />
      </div>
    </div>
  );
}
