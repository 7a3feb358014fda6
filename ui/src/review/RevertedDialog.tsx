/** The list "Reverted and removed": what a session lost by reverts can be restored for a while. */
import { createMemo, createResource, createSignal, For, Match, Show, Switch } from 'solid-js';
import { SmallDialog } from '../dialogs/SmallDialog';
import { uiError } from '../host/host';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { Fold } from '../kit/Fold';
import { clock } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import type { RevertedItem, RevertOptions, RevertOutcome } from '../protocol';
import { useApp } from '../store/context';
import type { Choices } from '../store/review';
import { isLeft, isUndecided } from '../store/review/left';
import { ChooseAll, LeftFile, type ChoiceNames } from './LeftFile';
import './decide.css';

export function RevertedDialog() {
  return (
    <SmallDialog name="reverted" title={en.reverted.title}>
      {(place) => <Reverted sessionID={place.sessionID} left={place.left} />}
    </SmallDialog>
  );
}

/** What came of restoring an item. */
interface Restored {
  readonly item: RevertedItem;
  readonly outcome: RevertOutcome;
}

/** `left` is what undoing a revert could not restore. */
function Reverted(props: { sessionID: string; left: RevertOutcome | undefined }) {
  const app = useApp();
  const [items, { refetch }] = createResource(() => props.sessionID, (id) => app.host.listReverted(id));
  const [working, setWorking] = createSignal<string | undefined>();
  const [done, setDone] = createSignal<Restored | undefined>();
  const list = () => (items.state === 'ready' || items.state === 'refreshing' ? (items.latest ?? []) : []);
  const undone = createMemo((before: Restored | undefined) => {
    const item = list().find(({ id }) => id === props.left?.leftIn);
    return before ?? (item && props.left && { item, outcome: props.left });
  });
  const restored = () => done() ?? undone();
  const restore = async (item: RevertedItem, options?: RevertOptions) => {
    if (working() !== undefined || app.busy()) return;
    setWorking(item.id);
    const work = () =>
      options ? app.host.restoreReverted(props.sessionID, item.id, options) : app.host.restoreReverted(props.sessionID, item.id);
    const outcome = await app.attempt(work);
    setWorking(undefined);
    if (!outcome) return;
    setDone({ item, outcome });
    await refetch();
    // The messages are back among the others, wherever the page is.
    if (item.messages > 0 && app.selected() === props.sessionID) await app.toLatest();
  };
  return (
    <div class="dialog-form" data-first tabindex="-1">
      <p class="dialog-note">{en.reverted.note}</p>
      <Show when={restored()} keyed>
        {(done) => (
          <Result
            done={done}
            names={done.item.id === props.left?.leftIn ? en.left.unreverted : en.left.restored}
            busy={working() !== undefined}
            onRestore={(options) => void restore(done.item, options)}
          />
        )}
      </Show>
      <Switch>
        <Match when={items.error !== undefined}>
          <p class="dialog-error" role="alert">
            {visible(uiError(items.error).message)}
          </p>
          <div class="dialog-actions">
            <Button onClick={() => void refetch()}>{en.reverted.retry}</Button>
          </div>
        </Match>
        <Match when={items.state === 'pending' || items.state === 'unresolved'}>
          <p class="dialog-note" role="status">
            {en.reverted.loading}
          </p>
        </Match>
        <Match when={list().length === 0}>
          <p class="dialog-text" data-testid="reverted-empty">
            {restored() ? en.reverted.nothingElse : en.reverted.empty}
          </p>
        </Match>
        <Match when={list().length > 0}>
          <ul class="reverted-list" data-testid="reverted-list">
            <For each={list()}>
              {(item) => <Item item={item} working={working() === item.id} disabled={working() !== undefined} onRestore={() => void restore(item)} />}
            </For>
          </ul>
        </Match>
      </Switch>
    </div>
  );
}

/** Enough to tell what it was; the others can be listed. */
const NAMED = 3;

function Item(props: { item: RevertedItem; working: boolean; disabled: boolean; onRestore: () => void }) {
  const app = useApp();
  const title = () => visibleLine(props.item.title);
  const what = () => {
    const { messages, files } = props.item;
    const said = [messages === 0 ? '' : en.reverted.messages(messages), files.length === 0 ? '' : en.reverted.files(files.length)];
    return said.filter((one) => one !== '').join(', ');
  };
  return (
    <li class="reverted-item" data-item={props.item.id}>
      <span class="reverted-title" title={title()}>
        {title()}
      </span>
      <Button
        data-testid="restore-reverted"
        aria-label={en.reverted.restoreOne(title())}
        title={app.busy() ? en.reverted.busy : undefined}
        disabled={props.disabled || app.busy()}
        onClick={() => props.onRestore()}
      >
        {props.working ? en.reverted.working : en.reverted.restore}
      </Button>
      <span class="reverted-what">
        <time datetime={new Date(props.item.time).toISOString()}>{clock(props.item.time)}</time> · {what()}
      </span>
      <Show when={props.item.files.length > 0}>
        <div class="reverted-files">
          <Names files={props.item.files.slice(0, NAMED)} />
          <Show when={props.item.files.length > NAMED}>
            <Fold label={en.reverted.more(props.item.files.length - NAMED)}>
              <Names files={props.item.files.slice(NAMED)} />
            </Fold>
          </Show>
        </div>
      </Show>
    </li>
  );
}

function Names(props: { files: readonly string[] }) {
  return <For each={props.files}>{(file) => <code>{visibleLine(file)}</code>}</For>;
}

/** What came back and what did not, with a decision about the latter. */
function Result(props: { done: Restored; names: ChoiceNames; busy: boolean; onRestore: (options: RevertOptions) => void }) {
  const [choices, setChoices] = createSignal<Choices>({});
  const left = () => props.done.outcome.files.filter(({ change }) => isLeft(change));
  const came = () => props.done.outcome.files.length - left().length;
  const open = () => left().filter(isUndecided).map(({ path }) => path);
  const choose = (choice: Choices[string], ...paths: string[]) =>
    setChoices((now) => ({ ...now, ...Object.fromEntries(paths.map((path) => [path, choice])) }));
  return (
    <section class="reverted-result" data-testid="reverted-result" role="status">
      <p>
        <strong>{visibleLine(props.done.item.title)}</strong>
        <Show when={left().length === 0 || props.done.item.messages + came() > 0}>
          <br />
          {en.reverted.done(props.done.item.messages, came())}
        </Show>
      </p>
      <Show when={left().length > 0}>
        <p>{en.reverted.left(left().length)}</p>
        <ul class="reverted-left">
          <For each={left()}>
            {(file) => (
              <li class="review-effect" data-change={file.change}>
                <code>{visibleLine(file.path)}</code>
                <Show when={file.reason}>{(reason) => <span class="review-reason">{visible(reason())}</span>}</Show>
                <LeftFile
                  file={file}
                  names={props.names}
                  choice={choices()[file.path]}
                  disabled={props.busy}
                  onChoose={(choice) => choose(choice, file.path)}
                />
              </li>
            )}
          </For>
        </ul>
        <Show when={open().length > 1}>
          <ChooseAll names={props.names} disabled={props.busy} onChoose={(choice) => choose(choice, ...open())} />
        </Show>
        <div class="dialog-actions">
          <Button
            tone="primary"
            data-testid="apply-restored"
            disabled={props.busy || Object.keys(choices()).length === 0}
            onClick={() => props.onRestore({ force: false, choices: { ...choices() } })}
          >
            {en.reverted.apply}
          </Button>
        </div>
      </Show>
    </section>
  );
}
