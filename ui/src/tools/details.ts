/** The details of an opened card, loaded when it is opened. */
import { createMemo, createResource, type Accessor } from 'solid-js';
import { uiError } from '../host/host';
import type { FileDiffView, ToolDetails, ToolPart } from '../protocol';
import { useApp } from '../store/context';
import type { ToolInput } from './input';

export interface Details {
  /** Undefined until it is loaded. */
  readonly value: Accessor<ToolDetails | undefined>;
  /** The arguments: shortened as in the part, until the full ones are loaded. */
  readonly input: Accessor<ToolInput>;
  readonly error: Accessor<string | undefined>;
  /** Loads a changed file with all unchanged lines. */
  whole(file: FileDiffView): Promise<FileDiffView | undefined>;
}

export function createDetails(part: () => ToolPart): Details {
  const { host, attempt } = useApp();
  const fetch = (whole: boolean) => {
    const { sessionID, messageID, id } = part();
    return host.toolDetails(sessionID, messageID, id, whole);
  };
  // Loaded again when the call ends, but not for every line of output.
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

/** Invalid arguments are stored as the model sent them, which may not be JSON. */
function objectOf(json: string): ToolInput | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ToolInput) : undefined;
  } catch {
    return undefined;
  }
}
