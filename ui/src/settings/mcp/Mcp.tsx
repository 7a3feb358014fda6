/** The tool servers: status, tools, and editing the person's own. */
import Plus from 'lucide-solid/icons/plus';
import { createMemo, createSignal, For, Show } from 'solid-js';
import { en } from '../../i18n/en';
import { Banner } from '../../kit/Banner';
import { Button } from '../../kit/Button';
import { visible } from '../../text/visible';
import { useApp } from '../../store/context';
import { NOTHING_TYPED, typedOf, type Typed } from './input';
import { McpForm } from './McpForm';
import { McpRow } from './McpRow';
import { createServers, keyOf } from './servers';
import './mcp.css';

/** The server in the form. */
interface Editing {
  readonly typed: Typed;
  readonly isNew: boolean;
}

export function Mcp() {
  const app = useApp();
  const servers = createServers(app.host);
  const [editing, setEditing] = createSignal<Editing | undefined>();
  let page!: HTMLDivElement;
  let addButton: HTMLButtonElement | undefined;
  // Keyed, so that a new list does not replace a row and close what is open in it.
  const keys = createMemo(() => servers.list()?.map(keyOf), undefined, {
    equals: (a, b) => a?.join('\n') === b?.join('\n'),
  });
  const find = (key: string) => servers.list()?.find((server) => keyOf(server) === key);
  const own = () => servers.list()?.filter((server) => server.projectID === undefined) ?? [];

  const edit = async (name: string) => {
    const input = await app.attempt(() => app.host.readMcp(name));
    if (input) setEditing({ typed: typedOf(name, input), isNew: false });
  };
  /** Returns the focus to the button that opened the form. */
  const close = (name: string) => {
    setEditing(undefined);
    const button = [...page.querySelectorAll<HTMLElement>('[data-edit]')].find((one) => one.dataset.edit === name);
    (button ?? addButton)?.focus();
  };

  return (
    <div ref={page}>
      <Show when={servers.failure()}>{(why) => <Banner tone="danger">{visible(why())}</Banner>}</Show>
      <Show
        when={editing()}
        keyed
        fallback={
          <>
            <div class="settings-heading-row settings-first">
              <h3 class="settings-heading">{en.mcp.title}</h3>
              <Button
                ref={(button) => (addButton = button)}
                icon={Plus}
                data-testid="add-mcp"
                onClick={() => setEditing({ typed: NOTHING_TYPED, isNew: true })}
              >
                {en.mcp.add}
              </Button>
            </div>
            <p class="settings-note">{en.mcp.note}</p>
            <Show when={keys()} fallback={<p class="settings-note">{en.mcp.loading}</p>}>
              {(known) => (
                <For each={known()} fallback={<p class="mcp-none">{en.mcp.none}</p>}>
                  {(key) => (
                    <Show when={find(key)}>
                      {(server) => <McpRow server={server()} servers={servers} onEdit={(name) => void edit(name)} />}
                    </Show>
                  )}
                </For>
              )}
            </Show>
          </>
        }
      >
        {(form) => (
          <McpForm
            typed={form.typed}
            isNew={form.isNew}
            taken={own().map((server) => server.name)}
            onSave={(name, input) => servers.change(() => app.host.saveMcp(name, input))}
            onClose={close}
          />
        )}
      </Show>
    </div>
  );
}
