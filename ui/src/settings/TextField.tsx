import { createUniqueId, Show, type JSX } from 'solid-js';

interface TextFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly note?: string;
  readonly value: string;
  /** The error, shown instead of the note. */
  readonly wrong: string | undefined;
  /** More than one line. */
  readonly lines?: boolean;
  /** Buttons at the right of the field. */
  readonly beside?: JSX.Element;
  readonly onType: (value: string) => void;
  /** The field was left, or Enter was pressed in it. */
  readonly onDone?: () => void;
}

/** A field with its label above and a note or an error below. */
export function TextField(props: TextFieldProps) {
  const id = createUniqueId();
  const said = () => props.wrong ?? props.note;
  const shared = () => ({
    id,
    placeholder: props.placeholder,
    spellcheck: false,
    'aria-invalid': props.wrong === undefined ? undefined : (true as const),
    'aria-describedby': said() === undefined ? undefined : `${id}-said`,
  });
  return (
    <div class="text-field">
      <label for={id}>{props.label}</label>
      <div class="text-field-row">
        <Show
          when={props.lines}
          fallback={
            <input
              type="text"
              class="field"
              autocomplete="off"
              {...shared()}
              value={props.value}
              onInput={(event) => props.onType(event.currentTarget.value)}
              onChange={() => props.onDone?.()}
            />
          }
        >
          <textarea
            class="field text-field-lines"
            rows={3}
            {...shared()}
            value={props.value}
            onInput={(event) => props.onType(event.currentTarget.value)}
          />
        </Show>
        {props.beside}
      </div>
      <Show when={said()}>
        {(words) => (
          <p
            class={props.wrong === undefined ? 'settings-note' : 'settings-wrong'}
            id={`${id}-said`}
            role={props.wrong === undefined ? undefined : 'alert'}
          >
            {words()}
          </p>
        )}
      </Show>
    </div>
  );
}
