/** The hosts of private networks that the agent may fetch from. */
import { createSignal, For, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { hostOf } from './hosts';
import { TextField } from './TextField';

export function PrivateHosts() {
  const app = useApp();
  const words = en.privateHosts;
  const hosts = () => app.settings.privateHosts;
  const [typed, setTyped] = createSignal('');
  const [wrong, setWrong] = createSignal<string | undefined>();
  const add = () => {
    const host = hostOf(typed());
    if (host === undefined) return setWrong(words.wrong);
    if (hosts().includes(host)) return setWrong(words.already(host));
    app.save({ privateHosts: [...hosts(), host] });
    setTyped('');
    setWrong(undefined);
  };
  const remove = (host: string) => app.save({ privateHosts: hosts().filter((one) => one !== host) });

  return (
    <>
      <h3 class="settings-heading settings-later">{words.title}</h3>
      <p class="settings-note">{words.note}</p>
      <Show when={hosts().length > 0}>
        <ul class="settings-list" data-testid="private-hosts">
          <For each={hosts()}>
            {(host) => (
              <li>
                <code class="data-name">{visibleLine(host)}</code>
                <Button aria-label={words.removeOne(visibleLine(host))} onClick={() => remove(host)}>
                  {words.remove}
                </Button>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <TextField
          label={words.label}
          placeholder={words.placeholder}
          value={typed()}
          wrong={wrong()}
          onType={(value) => {
            setTyped(value);
            setWrong(undefined);
          }}
          beside={
            <Button type="submit" disabled={typed().trim() === ''}>
              {words.add}
            </Button>
          }
        />
      </form>
    </>
  );
}
