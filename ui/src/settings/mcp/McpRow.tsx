/** One server: its owner, status and tools. All of its text is untrusted. */
import { createEffect, createSignal, For, Show } from 'solid-js';
import { uiError } from '../../host/host';
import { en } from '../../i18n/en';
import { Banner } from '../../kit/Banner';
import { Button } from '../../kit/Button';
import { Fold } from '../../kit/Fold';
import { baseName } from '../../text/format';
import { visible, visibleLine } from '../../text/visible';
import type { McpServerView, McpToolView } from '../../protocol';
import { useApp } from '../../store/context';
import { Confirm } from '../Confirm';
import type { Servers } from './servers';

interface McpRowProps {
  readonly server: McpServerView;
  readonly servers: Servers;
  readonly onEdit: (name: string) => void;
}

export function McpRow(props: McpRowProps) {
  const app = useApp();
  const [busy, setBusy] = createSignal(false);
  const [refused, setRefused] = createSignal<string | undefined>();
  const name = () => props.server.name;
  const shown = () => visibleLine(name());
  const project = () => {
    const id = props.server.projectID;
    const found = app.sessions.projects().find((one) => one.id === id);
    return id === undefined ? undefined : visibleLine(found?.name ?? (found ? baseName(found.worktree) : id));
  };
  const run = async (work: () => Promise<McpServerView[]>) => {
    setBusy(true);
    setRefused(undefined);
    try {
      await props.servers.change(work);
    } catch (reason) {
      setRefused(uiError(reason).message);
    }
    setBusy(false);
  };
  const isProgram = () => !/^https?:/.test(props.server.address);
  const works = () => app.mode.view()?.sandbox.unavailable === undefined;
  const isOn = () => props.server.status !== 'off';
  const turn = async (box: HTMLInputElement) => {
    const on = box.checked;
    await run(() => app.host.setMcpEnabled(name(), on));
    // If the change was refused, the switch must be set back by hand.
    if (box.isConnected) box.checked = isOn();
  };

  return (
    <section class="mcp" data-server={name()} data-status={props.server.status} aria-label={shown()}>
      <div class="mcp-head">
        <h4 class="mcp-name">{shown()}</h4>
        <span class="mcp-whose">{project() === undefined ? en.mcp.yours : en.mcp.ofProject(project() ?? '')}</span>
        <span class="mcp-status" role="status">
          {en.mcp.status[props.server.status]}
        </span>
        <input
          type="checkbox"
          role="switch"
          class="switch"
          aria-label={en.mcp.on(shown())}
          checked={isOn()}
          disabled={busy()}
          onChange={(event) => void turn(event.currentTarget)}
        />
      </div>
      <p class="mcp-address">{visibleLine(props.server.address)}</p>
      <Show when={refused() ?? props.server.error}>{(why) => <p class="settings-wrong">{visible(why())}</p>}</Show>
      <Show when={props.server.status === 'changed'}>
        <Banner tone="warn">
          <p>{en.mcp.changedNote}</p>
          <Button class="mcp-accept" disabled={busy()} onClick={() => void run(() => app.host.acceptMcp(name()))}>
            {en.mcp.accept}
          </Button>
        </Banner>
      </Show>
      <Tools server={props.server} />
      <Show when={props.server.log.length > 0}>
        <Fold label={en.mcp.log} open={props.server.status === 'failed'}>
          <Log lines={props.server.log} />
        </Fold>
      </Show>
      <Show when={project()}>{(named) => <p class="settings-note">{en.mcp.fromFiles(named())}</p>}</Show>
      <Show when={project() !== undefined && isProgram()}>
        <p class="settings-note">{works() ? en.toolServers.confined : en.toolServers.noSandbox}</p>
      </Show>
      <Actions {...props} busy={busy()} run={run} />
    </section>
  );
}

function Actions(props: McpRowProps & { busy: boolean; run: (work: () => Promise<McpServerView[]>) => Promise<void> }) {
  const app = useApp();
  const [asking, setAsking] = createSignal(false);
  const name = () => props.server.name;
  const shown = () => visibleLine(name());
  let remove: HTMLButtonElement | undefined;
  const keep = () => {
    setAsking(false);
    remove?.focus();
  };
  return (
    <Show
      when={!asking()}
      fallback={
        <Confirm
          question={en.mcp.confirmRemove(shown())}
          yes={en.mcp.removeNow}
          onNo={keep}
          onYes={() => {
            setAsking(false);
            void props.run(() => app.host.removeMcp(name()));
          }}
        />
      }
    >
      <div class="provider-actions">
        <Show when={props.server.status !== 'off'}>
          <Button
            aria-label={en.mcp.restartOne(shown())}
            disabled={props.busy}
            onClick={() => void props.run(() => app.host.restartMcp(name()))}
          >
            {en.mcp.restart}
          </Button>
        </Show>
        <Show when={props.server.projectID === undefined}>
          <Button
            data-edit={name()}
            aria-label={en.mcp.editOne(shown())}
            disabled={props.busy}
            onClick={() => props.onEdit(name())}
          >
            {en.mcp.edit}
          </Button>
          <Button
            ref={remove}
            tone="danger"
            aria-label={en.mcp.removeOne(shown())}
            disabled={props.busy}
            onClick={() => setAsking(true)}
          >
            {en.mcp.remove}
          </Button>
        </Show>
      </div>
    </Show>
  );
}

function Tools(props: { server: McpServerView }) {
  return (
    <Show when={props.server.tools.length > 0}>
      <Fold
        label={en.mcp.tools}
        detail={en.mcp.toolCount(props.server.tools.length)}
        open={props.server.status === 'changed'}
      >
        <ul class="mcp-tools">
          <For each={props.server.tools}>{(tool) => <Tool tool={tool} />}</For>
        </ul>
      </Fold>
    </Show>
  );
}

function Tool(props: { tool: McpToolView }) {
  return (
    <li data-changed={props.tool.changed ? '' : undefined}>
      <code>{visibleLine(props.tool.name)}</code>
      <Show when={props.tool.changed}>
        <span class="mcp-changed">{en.mcp.changedTool}</span>
      </Show>
      <p class="mcp-about">{visible(props.tool.description)}</p>
    </li>
  );
}

/** Scrolls to the end of the output. */
function Log(props: { lines: readonly string[] }) {
  let pre!: HTMLPreElement;
  const text = () => props.lines.map(visible).join('\n');
  createEffect(() => {
    pre.textContent = text();
    pre.scrollTop = pre.scrollHeight;
  });
  return <pre class="mcp-log" ref={pre} tabindex="0" aria-label={en.mcp.log} />;
}
