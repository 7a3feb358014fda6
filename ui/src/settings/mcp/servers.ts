/**
 * The servers as the core sees them now.
 *
 * A server starts and fails by itself, so the page asks again while it is open: soon while one is
 * starting, else seldom. Nothing is asked once the page is gone.
 */
import { createSignal, onCleanup, type Accessor } from 'solid-js';
import { uiError, type Host } from '../../host/host';
import type { McpServerView } from '../../protocol';

export const SOON = 1000;
export const SELDOM = 3000;

export interface Servers {
  /** Undefined until the core has told. */
  readonly list: Accessor<readonly McpServerView[] | undefined>;
  /** Why the list could not be had. */
  readonly failure: Accessor<string | undefined>;
  /** What changes a server answers with the new list. Fails with the reason. */
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
      // An answer that was overtaken tells of a state before the last change.
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

/** Which of the servers; a project may have one of the same name as the person. */
export function keyOf(server: McpServerView): string {
  return `${server.projectID ?? ''}/${server.name}`;
}

/** The new list, with the old objects where nothing about them is new: what is open stays as it is. */
function kept(before: readonly McpServerView[], told: readonly McpServerView[]): McpServerView[] {
  const old = new Map(before.map((server) => [JSON.stringify(server), server]));
  return told.map((server) => old.get(JSON.stringify(server)) ?? server);
}
