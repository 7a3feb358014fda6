/** The form for a server of the person. Saving shows an error at each wrong field. */
import { createSignal, For, onMount, Show } from 'solid-js';
import { uiError } from '../../host/host';
import { en } from '../../i18n/en';
import { Button } from '../../kit/Button';
import { visible, visibleLine } from '../../text/visible';
import type { McpServerInput } from '../../protocol';
import { TextField } from '../TextField';
import { readForm, type Field, type Typed, type Wrong } from './input';

const words = en.mcp.form;
const KINDS = Object.keys(words.kinds) as McpServerInput['kind'][];

interface McpFormProps {
  readonly typed: Typed;
  readonly isNew: boolean;
  /** The names of the person's servers. */
  readonly taken: readonly string[];
  readonly onSave: (name: string, input: McpServerInput) => Promise<void>;
  /** Called with the name of the server; empty if nothing was saved. */
  readonly onClose: (name: string) => void;
}

export function McpForm(props: McpFormProps) {
  const [typed, setTyped] = createSignal<Typed>(props.typed);
  const [wrong, setWrong] = createSignal<Wrong>({});
  const [refused, setRefused] = createSignal<string | undefined>();
  const [busy, setBusy] = createSignal(false);
  let form!: HTMLFormElement;
  const focusFirst = (selector: string) => form.querySelector<HTMLElement>(selector)?.focus();
  onMount(() => focusFirst('input[type="text"], textarea'));

  const change = (part: Partial<Typed>) => setTyped((now) => ({ ...now, ...part }));
  const save = async () => {
    const read = readForm(typed(), props.taken, props.isNew);
    setRefused(undefined);
    setWrong('wrong' in read ? read.wrong : {});
    if ('wrong' in read) return focusFirst('[aria-invalid]');
    setBusy(true);
    const name = typed().name.trim();
    try {
      await props.onSave(name, read.input);
      props.onClose(name);
    } catch (reason) {
      setRefused(uiError(reason).message);
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // Closes the form only, not the dialog around it.
    event.preventDefault();
    event.stopPropagation();
    props.onClose(props.typed.name);
  };
  const field = (name: Field) => ({
    value: typed()[name],
    wrong: wrong()[name],
    onType: (value: string) => change({ [name]: value }),
  });

  return (
    <form
      class="mcp-form"
      data-testid="mcp-form"
      ref={form}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h3 class="settings-heading">{props.isNew ? words.add : words.edit(visibleLine(props.typed.name))}</h3>
      <Show when={props.isNew}>
        <TextField label={words.name} placeholder={words.namePlaceholder} {...field('name')} />
      </Show>
      <fieldset class="settings-choice mcp-kinds">
        <legend>{words.kind}</legend>
        <For each={KINDS}>
          {(kind) => (
            <label>
              <input type="radio" name="mcp-kind" checked={typed().kind === kind} onChange={() => change({ kind })} />
              {words.kinds[kind]}
            </label>
          )}
        </For>
      </fieldset>
      <Show
        when={typed().kind === 'local'}
        fallback={
          <>
            <TextField label={words.url} placeholder={words.urlPlaceholder} {...field('url')} />
            <TextField
              lines
              label={words.headers}
              placeholder={words.headersPlaceholder}
              note={props.isNew ? words.linesNote : `${words.linesNote} ${words.keptNote}`}
              {...field('headers')}
            />
          </>
        }
      >
        <TextField
          label={words.command}
          placeholder={words.commandPlaceholder}
          note={words.commandNote}
          {...field('command')}
        />
        <TextField
          lines
          label={words.environment}
          placeholder={words.environmentPlaceholder}
          note={props.isNew ? words.linesNote : `${words.linesNote} ${words.keptNote}`}
          {...field('environment')}
        />
        <label class="settings-check">
          <input
            type="checkbox"
            checked={typed().sandbox}
            onChange={(event) => change({ sandbox: event.currentTarget.checked })}
          />
          {words.sandbox}
        </label>
      </Show>
      <Show when={refused()}>
        {(why) => (
          <p class="settings-wrong" role="alert">
            {visible(why())}
          </p>
        )}
      </Show>
      <div class="settings-actions">
        <Button type="submit" tone="primary" disabled={busy()}>
          {busy() ? en.settings.working : words.save}
        </Button>
        <Button onClick={() => props.onClose(props.typed.name)}>{en.mcp.cancel}</Button>
      </div>
    </form>
  );
}
