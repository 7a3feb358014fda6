/**
 * The tool servers, polled from the core.
 *
 * A server starts and fails on its own, so the list is polled while the page is open: often while one is
 * starting, else rarely.
 */
import { createSignal, onCleanup, type Accessor } from 'solid-js';
import { uiError, type Host } from '../../host/host';
import type { McpServerView } from '../../protocol';

export const SOON = 1000;
export const SELDOM = 3000;

export interface Servers {
  /** Undefined until it is loaded. */
  readonly list: Accessor<readonly McpServerView[] | undefined>;
  /** Why the list could not be loaded. */
  readonly failure: Accessor<string | undefined>;
  /** Runs a change that returns the new list. Rejects with the reason. */
  change(work: () => Promise<McpServerView[]>): Promise<void>;
}

export function createServers(host: Pick<Host, 'listMcp'>): Servers {
  const [list, setList] = createSignal<readonly McpServerView[] | undefined>();
  const [failure, setFailure] = createSignal<string | undefined>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let asked = 0;

  const take = async (work: () => Promise<McpServerView[]>) => {
    clearTimeout(timer);
    asked += 1;
    const turn = asked;
    try {
      const told = await work();
      // An answer that was overtaken is older than the last change.
      if (turn === asked) setList((before) => kept(before ?? [], told));
    } finally {
      if (turn === asked) wait();
    }
  };
  const wait = () => {
    if (closed) return;
    const starting = list()?.some((server) => server.status === 'starting');
    timer = setTimeout(() => void look(), starting ? SOON : SELDOM);
  };
  const look = async () => {
    try {
      await take(() => host.listMcp());
      setFailure(undefined);
    } catch (reason) {
      setFailure(uiError(reason).message);
    }
  };

  onCleanup(() => {
    closed = true;
    clearTimeout(timer);
  });
  void look();
  return { list, failure, change: take };
}

/** Identifies a server: a project may have one with the same name as the person's. */
export function keyOf(server: McpServerView): string {
  return `${server.projectID ?? ''}/${server.name}`;
}

/** Keeps the old objects of unchanged servers, so that their rows are not drawn again. */
function kept(before: readonly McpServerView[], told: readonly McpServerView[]): McpServerView[] {
  const old = new Map(before.map((server) => [JSON.stringify(server), server]));
  return told.map((server) => old.get(JSON.stringify(server)) ?? server);
}
