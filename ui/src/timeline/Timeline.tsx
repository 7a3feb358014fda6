/**
 * The open session, turn by turn.
 *
 * Virtual: only the rows near the viewport are in the DOM. It opens at the end, follows it while the
 * reader is there, and loads older messages near the beginning.
 */
import ArrowDown from 'lucide-solid/icons/arrow-down';
import { createEffect, createMemo, on, onMount, Show } from 'solid-js';
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { registerFocus } from '../kit/focus';
import { ExpandedProvider } from '../store/expanded';
import { useApp } from '../store/context';
import { beforeRevert } from '../store/editing';
import type { OpenSession } from '../store/timeline';
import { rowsOf, type Row } from '../store/turns';
import { createStick } from './stick-to-end';
import { useTarget } from './scroll-to-target';
import { Turn } from './Turn';
import { Working } from './Working';
import './timeline.css';

/** The distance from the beginning at which older messages are loaded. */
const NEAR = 800;

/** The estimated height of a row until it is measured. */
const ROW_HEIGHT = 400;

interface List {
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
  readonly byKey: ReadonlyMap<string, Row>;
  /** Rows were added at the beginning: the list must keep its distance from the end. */
  readonly shift: boolean;
}

const NOTHING: List = { rows: [], keys: [], byKey: new Map(), shift: false };

export function Timeline(props: { open: OpenSession }) {
  const app = useApp();
  let scroller!: HTMLDivElement;
  const stick = createStick(
    () => scroller,
    () => props.open.hasNewer,
  );

  const list = createMemo<List>((before) => {
    const messages = beforeRevert(props.open.messages, app.session()?.revert);
    const rows = rowsOf(messages, props.open.queued, before.rows);
    const keys = rows.map((row) => row.key);
    const first = before.keys[0];
    const shift = first !== undefined && keys[0] !== first && keys.includes(first);
    return { rows, keys, byKey: new Map(rows.map((row) => [row.key, row])), shift };
  }, NOTHING);
  const keys = createMemo(() => list().keys, undefined, { equals: sameKeys });

  const loadOlder = () => {
    if (props.open.hasOlder && scroller.scrollTop < NEAR) void app.loadOlder();
  };
  const loadNewer = () => {
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (props.open.hasNewer && left < NEAR) void app.loadNewer();
  };
  const onScroll = () => {
    stick.moved();
    loadOlder();
    loadNewer();
  };
  const onOpen = (event: Event) => {
    if (event.target instanceof Element && event.target.closest('[aria-expanded]')) stick.hold();
  };
  const onResize = () => {
    stick.grown();
    loadOlder();
  };

  onMount(() => !app.target() && stick.toEnd());
  registerFocus('timeline', () => ({ element: scroller, target: () => scroller }));
  let handle: VirtualizerHandle | undefined;
  useTarget({
    target: app.target,
    rows: () => list().rows,
    scroller: () => scroller,
    toRow: (index) => handle?.scrollToIndex(index, { align: 'center' }),
    leave: stick.leave,
  });
  createEffect(on(app.sent, () => stick.follow(), { defer: true }));

  return (
    <div class="timeline">
      <div
        class="timeline-scroll"
        ref={scroller}
        data-testid="timeline"
        data-session-id={props.open.sessionID}
        role="log"
        aria-live="off"
        aria-label={en.timeline.label}
        aria-busy={app.busy()}
        tabindex="0"
        onScroll={onScroll}
        onWheel={(event) => !movesWithin(event, scroller) && stick.turned(event.deltaY)}
        on:click={{ capture: true, handleEvent: onOpen }}
      >
        <ExpandedProvider value={app.expanded}>
          <Virtualizer
            data={keys()}
            shift={list().shift}
            itemSize={ROW_HEIGHT}
            bufferSize={600}
            scrollRef={scroller}
            onResize={onResize}
            ref={(made) => (handle = made)}
          >
            {(key) => <Turn row={() => list().byKey.get(key)} last={() => list().keys.at(-1) === key} />}
          </Virtualizer>
        </ExpandedProvider>
        <Show when={app.session()?.revert}>
          <div class="reverted" data-testid="reverted" role="note">
            <span>{en.edit.hidden}</span>
            <Button onClick={() => void app.editing.redo()}>{en.edit.redo}</Button>
          </div>
        </Show>
        <Working />
      </div>
      <Show when={stick.isAway()}>
        <Button class="timeline-latest" data-testid="jump-to-latest" icon={ArrowDown} onClick={() => (props.open.hasNewer ? void app.toLatest().then(stick.toEnd) : stick.toEnd())}>
          {en.timeline.latest}
        </Button>
      </Show>
    </div>
  );
}

/** A scrollable element inside the timeline takes the wheel until it is at its top. */
function movesWithin(event: WheelEvent, scroller: HTMLElement): boolean {
  let element = event.target instanceof Element ? event.target : null;
  for (; element && element !== scroller; element = element.parentElement) {
    if (element.scrollTop > 0) return true;
  }
  return false;
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}
