/** What an opened card shows, fetched when it is opened. */
import { createMemo, createResource, type Accessor } from 'solid-js';
import { uiError } from '../host/host';
import type { FileDiffView, ToolDetails, ToolPart } from '../protocol';
import { useApp } from '../store/context';

export interface Details {
  /** Undefined until it has come. */
  readonly value: Accessor<ToolDetails | undefined>;
  readonly error: Accessor<string | undefined>;
  /** A changed file with all the lines around its changes. */
  whole(file: FileDiffView): Promise<FileDiffView | undefined>;
}

export function createDetails(part: () => ToolPart): Details {
  const { host, attempt } = useApp();
  const fetch = (whole: boolean) => {
    const { sessionID, messageID, id } = part();
    return host.toolDetails(sessionID, messageID, id, whole);
  };
  // Once more when the call has come to its end, and not for every line it prints.
  const moment = createMemo(() => {
    const { id, state } = part();
    return state.status === 'pending' ? undefined : `${id} ${state.status}`;
  });
  const [details] = createResource(moment, () => fetch(false));
  let all: Promise<ToolDetails | undefined> | undefined;
  return {
    value: () => (details.state === 'ready' || details.state === 'refreshing' ? details.latest : undefined),
    error: () => (details.error === undefined ? undefined : uiError(details.error).message),
    async whole(file) {
      all ??= attempt(() => fetch(true));
      const body = (await all)?.body;
      return body?.kind === 'diffs' ? body.files.find((one) => one.path === file.path) : undefined;
    },
  };
}
