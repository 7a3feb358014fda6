import ArrowUp from 'lucide-solid/icons/arrow-up';
import Square from 'lucide-solid/icons/square';
import { createEffect, createMemo, createSignal, createUniqueId, on, onMount, Show } from 'solid-js';
import { useActions } from '../actions/context';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { registerFocus } from '../kit/focus';
import { isComposing, isTab } from '../kit/keys';
import { ModelPicker } from '../models/ModelPicker';
import { VariantPicker } from '../models/VariantPicker';
import { Requests } from '../requests/Requests';
import { useApp } from '../store/context';
import { rootOf } from '../store/projects';
import { filesOf, joinDrafts } from '../store/prompts';
import { AgentPicker } from './AgentPicker';
import { AttachMenu } from './AttachMenu';
import { Attachments } from './Attachments';
import { builtinCommands, builtinNames, runBuiltin } from './builtins';
import { ContextMeter } from './ContextMeter';
import { EditBanner } from './EditBanner';
import { ModePicker } from './ModePicker';
import { HistorySearch } from './HistorySearch';
import { noteSent, readHistory, step, type Walk } from './history';
import { offerOf, pasteOf } from './paste';
import { isShell, promptOf } from './pills';
import { Pills } from './Pills';
import { createSuggest } from './suggest';
import { optionID, Suggestions } from './Suggestions';
import { commandOf } from './tokens';
import './composer.css';

const MENTIONS = 20;

/** What has the focus for itself. */
const ON_TOP = '[role=menu], [role=listbox], [role=dialog], [role=alertdialog]';

/** The field for the prompt. A draft belongs to its session, or to the project's empty page. */
export function Composer() {
  const app = useApp();
  const actions = useActions();
  const listID = createUniqueId();
  let dock!: HTMLDivElement;
  let area!: HTMLTextAreaElement;
  let box!: HTMLFormElement;
  let pills: HTMLDivElement | undefined;

  const { place } = app;
  const draft = () => app.drafts.get(place());
  const text = () => draft().text;
  const ready = () => app.phase().name === 'ready' && app.project() !== undefined && !app.openError();
  /** The agent and the model are known once the session is open. */
  const settled = () => app.selected() === undefined || app.timeline.open()?.sessionID === app.selected();
  const sendable = () => ready() && settled() && (text().trim() !== '' || draft().attachments.length > 0);

  const commands = createMemo(() => {
    const window = builtinCommands(app.selected() !== undefined);
    const names = new Set(window.map(({ name }) => name));
    return [...window, ...app.environment.commands().filter(({ name }) => !names.has(name))];
  });
  const commandNames = createMemo(() => [...commands().map(({ name }) => name), ...builtinNames(app.selected() !== undefined)]);
  const called = (prompt: string) => commandOf(prompt, commandNames());
  const suggest = createSuggest({
    commands,
    refreshCommands: () => void app.environment.refreshCommands(),
    findMentions: async (query) => {
      const id = app.project()?.id;
      return id === undefined ? [] : ((await app.attempt(() => app.host.findMentions(id, app.selected() ?? null, query, MENTIONS))) ?? []);
    },
  });
  const [walk, setWalk] = createSignal<Walk | undefined>();
  const [searching, setSearching] = createSignal(false);
  const history = () => readHistory(globalThis.localStorage, app.project()?.id ?? '');
  /** After Escape, the next Tab moves the focus: the field must not trap the keyboard. */
  let leaving = false;

  const look = () => suggest.look(area.value, area.selectionStart === area.selectionEnd ? area.selectionStart : -1);
  const write = (value: string, at = value.length) => {
    app.drafts.change(place(), { text: value });
    area.value = value;
    area.setSelectionRange(at, at);
    look();
  };

  /** Sends a command of the core, or a prompt. */
  const deliver = async (prompt: string): Promise<boolean> => {
    if (isShell(prompt)) return app.shell(prompt.slice(1).trim());
    const command = called(prompt);
    const files = filesOf(draft(), prompt, rootOf(app.project(), app.session()));
    return command ? app.run(command.name, command.args, files) : app.submit(prompt, files);
  };
  /** Adds the text to the history for the arrow keys. */
  const note = (prompt: string) => {
    const project = app.project()?.id;
    if (project !== undefined && prompt !== '') noteSent(globalThis.localStorage, project, prompt);
  };
  /** An unknown command may be in a new file, so the list is refreshed before the text is sent as a prompt. */
  let waits = false;
  const send = async () => {
    if (waits || !sendable()) return;
    if (text().trim().startsWith('/') && !called(text().trim())) {
      const [where, written] = [place(), text()];
      waits = true;
      await app.environment.commandsTold();
      waits = false;
      if (!sendable() || place() !== where || text() !== written) return;
    }
    const from = place();
    const before = draft();
    const prompt = promptOf(text());
    suggest.dismiss();
    setWalk(undefined);
    const command = called(prompt);
    if (command && runBuiltin(app, command.name, command.args)) {
      // A window command does not use the attachments; they stay for the next prompt.
      app.drafts.change(from, { text: '', symbols: [] });
      note(prompt);
      return;
    }
    const sent = deliver(prompt);
    app.drafts.take(from);
    // Nor does a command of the person's own.
    const kept = isShell(prompt) ? before.attachments : [];
    if (kept.length > 0) app.drafts.change(from, { attachments: kept });
    if (await sent) {
      // The first one of a session leads into it.
      const moves = kept.length > 0 && from !== place() && from.startsWith('new:');
      if (moves) {
        app.drafts.change(place(), { attachments: [...kept, ...app.drafts.get(place()).attachments] });
        app.drafts.change(from, { attachments: [] });
      }
      app.drafts.accepted(from);
      return note(prompt);
    }
    // Refused: put the text back, above what was typed in the meantime. The first prompt of a session leaves the person in the new, still empty one.
    const begun = from !== place() && from.startsWith('new:') && app.timeline.open()?.messages.length === 0;
    const back = begun ? place() : from;
    app.drafts.change(back, joinDrafts(before, app.drafts.get(back)));
    if (back !== from && kept.length > 0) app.drafts.change(from, { attachments: [] });
  };

  const choose = (index: number, into: boolean) => {
    const put = suggest.choose(area.value, index, into);
    if (!put) return;
    const { mention } = put.picked;
    if (mention?.kind === 'symbol') app.drafts.change(place(), { symbols: [...draft().symbols, mention] });
    write(put.text, put.caret);
    area.focus();
  };
  /** Only from the first line up and from the last line down; elsewhere the keys move the caret. */
  const walkHistory = (by: -1 | 1): (() => void) | undefined => {
    const { value, selectionStart, selectionEnd } = area;
    if (selectionStart !== selectionEnd) return undefined;
    const rest = by === -1 ? value.slice(0, selectionStart) : value.slice(selectionEnd);
    if (rest.includes('\n') || (!walk() && by === -1 && selectionStart !== 0)) return undefined;
    const next = step(history(), walk(), by, value);
    if (!next) return undefined;
    return () => {
      write(next.text, by === -1 ? 0 : next.text.length);
      setWalk(next.walk);
    };
  };
  /** The list is for what was typed before: waits for the present one, unless more is typed meanwhile. */
  const pickLater = async (late: Promise<void>, key: string) => {
    const [where, written, caret] = [place(), area.value, area.selectionStart];
    await late;
    if (place() !== where || area.value !== written || area.selectionStart !== caret) return;
    if (suggest.open()) choose(suggest.active(), key === 'Tab');
    else if (key === 'Enter') void send();
  };
  const onSuggestion = (event: KeyboardEvent): (() => void) | undefined => {
    const late = suggest.pending();
    if (late && ['Enter', 'Tab'].includes(event.key) && !event.shiftKey) return () => void pickLater(late, event.key);
    if (!suggest.open()) return undefined;
    switch (event.key) {
      case 'ArrowDown':
        return () => suggest.move(1);
      case 'ArrowUp':
        return () => suggest.move(-1);
      case 'Enter':
        return event.shiftKey ? undefined : () => choose(suggest.active(), false);
      case 'Tab':
        return event.shiftKey ? undefined : () => choose(suggest.active(), true);
      case 'Escape':
        return () => suggest.dismiss();
      default:
        return undefined;
    }
  };
  const keyed = (event: KeyboardEvent): (() => void) | undefined => {
    const suggestion = onSuggestion(event);
    if (suggestion) return suggestion;
    if (event.ctrlKey && !event.altKey && !event.shiftKey && event.key === 'r') return () => setSearching(true);
    if (event.altKey || event.ctrlKey || event.metaKey) return undefined;
    if (isTab(event)) {
      // With one agent there is nothing to switch, so Tab moves the focus.
      return app.agents.list().length > 1 && !leaving ? () => app.agents.cycle(event.shiftKey ? -1 : 1) : undefined;
    }
    switch (event.key) {
      case 'Enter':
        return event.shiftKey ? undefined : () => void send();
      case 'ArrowUp':
        return walkHistory(-1);
      case 'ArrowDown':
        return walkHistory(1);
      case 'Escape':
        return app.editing.current() ? () => app.editing.leave() : undefined;
      default:
        return undefined;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const run = keyed(event);
    if (event.key !== 'Shift') leaving = event.key === 'Escape' && !run;
    if (!run) return;
    event.preventDefault();
    run();
  };

  /** Inserts at the caret, or appends if the text belongs to another session's draft. */
  const insertText = (value: string, where: string) => {
    if (where !== place()) return app.drafts.change(where, { text: app.drafts.get(where).text + value });
    const { selectionStart, selectionEnd } = area;
    write(area.value.slice(0, selectionStart) + value + area.value.slice(selectionEnd), selectionStart + value.length);
    area.focus();
  };
  const onPaste = (event: ClipboardEvent) => {
    const offer = offerOf(event.clipboardData);
    const kind = pasteOf(offer);
    if (kind === 'text') return;
    event.preventDefault();
    if (kind === 'long-text') void app.attachments.pasteText(offer.text, (where) => insertText(offer.text, where));
    else if (kind === 'files') void app.attachments.pasteFiles([...(event.clipboardData?.files ?? [])]);
    else void app.attachments.pasteSystem();
  };

  // The field is as tall as its text, up to a limit in CSS.
  createEffect(() => {
    const value = text();
    if (area.value !== value) area.value = value;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  });
  createEffect(
    on(place, (now) => {
      // A menu or a dialog that was opened meanwhile would close.
      if (!document.activeElement?.closest(ON_TOP)) area.focus();
      setWalk(undefined);
      void app.attachments.check(now);
    }),
  );
  onMount(() => area.focus());
  registerFocus('composer', () => ({ element: dock, target: () => (area.disabled ? undefined : area) }));
  // The list is positioned by the viewport, because the dock would clip it.
  createEffect(() => {
    if (!suggest.open()) return;
    const { left, top, width } = box.getBoundingClientRect();
    box.style.setProperty('--suggest-left', `${left}px`);
    box.style.setProperty('--suggest-bottom', `${window.innerHeight - top + 6}px`);
    box.style.setProperty('--suggest-width', `${width}px`);
  });

  return (
    <div class="composer-dock" ref={dock}>
      <div class="composer">
        <Requests />
        <form
          class="composer-box"
          ref={box}
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <EditBanner />
          <Attachments onLeave={() => area.focus()} />
          <Show when={suggest.open()}>
            <Suggestions
              id={listID}
              list={suggest.list()}
              active={suggest.active()}
              onMark={suggest.mark}
              onChoose={(index) => choose(index, false)}
            />
          </Show>
          <div class="composer-field" data-shell={isShell(text()) ? '' : undefined}>
            <Pills text={text()} commands={commandNames()} ref={(layer) => (pills = layer)} />
            <textarea
              ref={area}
              data-testid="composer"
              class="composer-input"
              rows={1}
              role={suggest.open() ? 'combobox' : undefined}
              aria-label={en.composer.label}
              aria-describedby="composer-hint"
              aria-description={app.agents.list().length > 1 ? en.composer.tabHint(actions.nameOf('nextPane')) : undefined}
              aria-autocomplete="list"
              aria-haspopup={suggest.open() ? 'listbox' : undefined}
              aria-expanded={suggest.open() ? true : undefined}
              aria-controls={suggest.open() ? listID : undefined}
              aria-activedescendant={suggest.open() ? optionID(listID, suggest.active()) : undefined}
              placeholder={app.busy() ? en.composer.placeholderBusy : en.composer.placeholder}
              disabled={!ready()}
              onInput={(event) => {
                app.drafts.change(place(), { text: event.currentTarget.value });
                setWalk(undefined);
                look();
              }}
              onClick={look}
              onKeyUp={(event) => /^(Arrow|Home|End)/.test(event.key) && !suggest.open() && look()}
              onBlur={() => suggest.dismiss()}
              onKeyDown={onKeyDown}
              onPaste={onPaste}
              onScroll={() => pills && (pills.scrollTop = area.scrollTop)}
            />
          </div>
          <HistorySearch
            open={searching()}
            anchor={() => box}
            prompts={history}
            onChoose={(prompt) => {
              setSearching(false);
              insertText(prompt, place());
            }}
            onClose={() => {
              setSearching(false);
              area.focus();
            }}
          />
          <div class="composer-bar">
            <AttachMenu />
            <AgentPicker />
            <ModePicker />
            <ModelPicker onDone={() => area.focus()} />
            <VariantPicker />
            <span class="composer-hint" id="composer-hint">
              {isShell(text()) ? en.work.shell.hint : app.busy() ? en.composer.hintBusy : en.composer.hint}
            </span>
            <ContextMeter />
            <Show when={app.busy()}>
              <IconButton
                class="composer-stop"
                data-testid="stop"
                icon={Square}
                label={en.composer.stop}
                keys="Esc"
                size={11}
                onClick={() => void app.stop()}
              />
            </Show>
            <IconButton
              class="composer-send"
              data-testid="send"
              type="submit"
              icon={ArrowUp}
              label={en.composer.send}
              keys="Enter"
              disabled={!sendable()}
            />
          </div>
        </form>
      </div>
    </div>
  );
}
