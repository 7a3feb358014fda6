import ArrowUp from 'lucide-solid/icons/arrow-up';
import Square from 'lucide-solid/icons/square';
import { createEffect, createMemo, on, onMount, Show } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import { isComposing } from '../kit/keys';
import { ModelPicker } from '../models/ModelPicker';
import { VariantPicker } from '../models/VariantPicker';
import { Requests } from '../permission/Requests';
import { useApp } from '../store/context';
import './composer.css';

/** Where the prompt is written. A draft belongs to its session, or to the project's empty page. */
export function Composer() {
  const app = useApp();
  let area!: HTMLTextAreaElement;

  const place = createMemo(() => app.selected() ?? `new:${app.project()?.id ?? ''}`);
  const text = () => app.drafts.get(place());
  const ready = () => app.phase().name === 'ready' && app.project() !== undefined && !app.openError();
  const sendable = () => ready() && text().trim() !== '';

  const send = async () => {
    if (!sendable()) return;
    const from = place();
    const prompt = text().trim();
    app.drafts.set(from, '');
    // Not taken: give it back, unless something new was typed meanwhile.
    if (!(await app.send(prompt)) && app.drafts.get(from) === '') app.drafts.set(from, prompt);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
    event.preventDefault();
    void send();
  };

  // The field is as tall as its text; CSS sets the limit.
  createEffect(() => {
    const value = text();
    if (area.value !== value) area.value = value;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight}px`;
  });
  createEffect(on(place, () => area.focus(), { defer: true }));
  onMount(() => area.focus());

  return (
    <div class="composer-dock">
      <div class="composer">
        <Requests />
        <form
          class="composer-box"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <textarea
            ref={area}
            data-testid="composer"
            class="composer-input"
            rows={1}
            aria-label={en.composer.label}
            aria-describedby="composer-hint"
            placeholder={app.busy() ? en.composer.placeholderBusy : en.composer.placeholder}
            disabled={!ready()}
            onInput={(event) => app.drafts.set(place(), event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          <div class="composer-bar">
            <ModelPicker onDone={() => area.focus()} />
            <VariantPicker />
            <span class="composer-hint" id="composer-hint">
              {app.busy() ? en.composer.hintBusy : en.composer.hint}
            </span>
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
