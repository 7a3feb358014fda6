/**
 * The open session, turn by turn.
 *
 * Virtual: only the rows near the viewport are in the DOM. It opens at the end, follows it while the
 * reader is there, and loads older messages near the beginning.
 */
import ArrowDown from 'lucide-solid/icons/arrow-down';
import { createEffect, createMemo, on, onCleanup, onMount, Show } from 'solid-js';
import { Virtualizer, type VirtualizerHandle } from 'virtua/solid';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { registerFocus } from '../kit/focus';
import { ExpandedProvider } from '../store/expanded';
import { useApp } from '../store/context';
import type { OpenSession } from '../store/timeline';
import { rowsOf, workedOn, type Row } from '../store/turns';
import { messageIn, readingIn } from './reading';
import { createStick } from './stick-to-end';
import { useTarget } from './scroll-to-target';
import { Turn } from './Turn';
import { Working } from './Working';
import './timeline.css';

/** The distance from the beginning at which older messages are loaded. */
const NEAR = 800;

/** The estimated height of a row until it is measured. */
const ROW_HEIGHT = 400;

/** Keys that scroll up. */
const UPWARDS: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home']);

interface List {
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
  readonly byKey: ReadonlyMap<string, Row>;
  readonly byTurn: ReadonlyMap<string, readonly Row[]>;
  /** Rows were added at the beginning: the list must keep its distance from the end. */
  readonly shift: boolean;
}

const NOTHING: List = { rows: [], keys: [], byKey: new Map(), byTurn: new Map(), shift: false };

export function Timeline(props: { open: OpenSession }) {
  const app = useApp();
  let scroller!: HTMLDivElement;
  const stick = createStick(
    () => scroller,
    () => props.open.hasNewer,
  );

  const list = createMemo<List>((before) => {
    const messages = app.reverted.visible(props.open.messages);
    const rows = rowsOf(messages, props.open.queued, before.rows);
    const keys = rows.map((row) => row.key);
    const first = before.keys[0];
    const shift = first !== undefined && keys[0] !== first && keys.includes(first);
    const byKey = new Map(rows.map((row) => [row.key, row]));
    return { rows, keys, byKey, byTurn: byTurn(rows), shift };
  }, NOTHING);
  const keys = createMemo(() => list().keys, undefined, { equals: sameKeys });
  const running = createMemo(() => (app.busy() ? workedOn(list().rows) : undefined));

  /** Before the first reverted message there is nothing to say about it yet. */
  const reachesRevert = () => !props.open.hasNewer || app.reverted.visible(props.open.messages).length < props.open.messages.length;
  const settle = () => {
    const revert = app.session()?.revert;
    if (!revert) return;
    const { messageID, partID } = revert;
    void app.review.ask(partID === undefined ? { kind: 'message', messageID } : { kind: 'part', messageID, partID });
  };
  // The whole page may be reverted: what is before it is what there is to read.
  createEffect(() => {
    if (app.reverted.isKnown() && list().rows.length === 0 && props.open.messages.length > 0 && props.open.hasOlder) void app.loadOlder();
  });

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
  // A request above the composer takes room from the timeline, and gives it back.
  onMount(() => {
    const sizes = new ResizeObserver(() => stick.grown());
    sizes.observe(scroller);
    onCleanup(() => sizes.disconnect());
  });
  createEffect(on(() => props.open.hasNewer, () => stick.grown(), { defer: true }));
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
  onMount(() => onCleanup(app.promptSteps.register(() => readingIn(scroller, list().rows))));
  onMount(() => onCleanup(app.reader.register(() => (stick.atEnd() ? undefined : messageIn(scroller)))));

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
        onKeyDown={(event) => UPWARDS.has(event.key) && stick.turned(-1)}
        onPointerDown={(event) => stick.grab(event.target === scroller)}
        onPointerUp={() => stick.grab(false)}
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
            {(key) => {
              const row = () => list().byKey.get(key);
              const rows = () => list().byTurn.get(row()?.turnID ?? '') ?? [];
              const last = () => list().keys.at(-1) === key;
              return <Turn row={row} rows={rows} last={last} running={() => running() === row()?.turnID} />;
            }}
          </Virtualizer>
        </ExpandedProvider>
        <Show when={app.session()?.revert && reachesRevert()}>
          <div class="reverted" data-testid="reverted" role="note">
            <span>
              {en.edit.hidden}
              <Show when={app.reverted.left().length > 0}> {en.left.count(app.reverted.left().length)}</Show>
            </span>
            <Show when={app.reverted.left().length > 0}>
              <Button data-testid="settle-left" disabled={app.busy()} onClick={() => settle()}>
                {en.left.settle}
              </Button>
            </Show>
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

function byTurn(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const turns = new Map<string, Row[]>();
  for (const row of rows) turns.set(row.turnID, [...(turns.get(row.turnID) ?? []), row]);
  return turns;
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}
