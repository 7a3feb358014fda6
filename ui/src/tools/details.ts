/** What an opened card shows, fetched when it is opened. */
import { createMemo, createResource, type Accessor } from 'solid-js';
import { uiError } from '../host/host';
import type { FileDiffView, ToolDetails, ToolPart } from '../protocol';
import { useApp } from '../store/context';
import type { ToolInput } from './input';

export interface Details {
  /** Undefined until it has come. */
  readonly value: Accessor<ToolDetails | undefined>;
  /** The arguments: as a part brings them, with long texts cut, until they have come in full. */
  readonly input: Accessor<ToolInput>;
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
  const value = () => (details.state === 'ready' || details.state === 'refreshing' ? details.latest : undefined);
  const full = createMemo(() => objectOf(value()?.input ?? ''));
  let all: Promise<ToolDetails | undefined> | undefined;
  return {
    value,
    input: () => full() ?? part().state.input ?? {},
    error: () => (details.error === undefined ? undefined : uiError(details.error).message),
    async whole(file) {
      all ??= attempt(() => fetch(true));
      const body = (await all)?.body;
      return body?.kind === 'diffs' ? body.files.find((one) => one.path === file.path) : undefined;
    },
  };
}

/** Arguments that a model got wrong are kept as they came, which need not be JSON. */
function objectOf(json: string): ToolInput | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ToolInput) : undefined;
  } catch {
    return undefined;
  }
}
