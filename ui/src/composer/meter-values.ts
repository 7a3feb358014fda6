/**
 * The values of the context meter.
 *
 * They are loaded when the session opens, when a step or a task ends, and after a revert. Until then,
 * the values that came with the session are shown.
 */
import { createMemo, createResource, type Accessor } from 'solid-js';
import type { ContextUse } from '../protocol';
import { useApp } from '../store/context';
import { tasksOf } from '../store/tasks';
import { readUsage, type Usage } from './usage';

interface MeterValues {
  /** At least one step has ended. */
  readonly answered: Accessor<boolean>;
  readonly context: Accessor<ContextUse>;
  readonly spent: Accessor<Usage | undefined>;
}

const NONE: ContextUse = { used: 0, usable: 0, limit: 0, willCompact: false };

export function useMeterValues(): MeterValues {
  const app = useApp();
  const shown = createMemo(() => {
    const open = app.timeline.open();
    return open && open.sessionID === app.selected() ? open : undefined;
  });
  const finished = createMemo(
    () =>
      shown()?.messages.findLast(({ info }) => info.role === 'assistant' && info.time.completed !== undefined)?.info.id,
  );
  /** Changes whenever the values may have changed. */
  const moment = createMemo(() => {
    const sessionID = shown()?.sessionID;
    if (sessionID === undefined) return undefined;
    return JSON.stringify([sessionID, finished(), app.busy(), app.session()?.revert?.messageID]);
  });
  const sessionID = createMemo(() => shown()?.sessionID ?? '');
  const tasks = createMemo(() => tasksOf(app.sessions.all(), sessionID()).map(({ id }) => id));
  const tasksNow = createMemo(() => JSON.stringify(tasks().map((id) => [id, app.activity.status(id).type])));

  // If loading fails, the last values stay; that is not worth an error at every step.
  const [use] = createResource(moment, async () => {
    const asked = sessionID();
    const told = await app.host.contextUse(asked).catch(() => undefined);
    return told && { sessionID: asked, told };
  });
  const [spent] = createResource(
    () => moment() && `${moment()} ${tasksNow()}`,
    () => readUsage(app.host, sessionID(), tasks()).catch(() => undefined),
  );

  return {
    answered: () => finished() !== undefined,
    // Ignores a late answer for another session.
    context: () => (use.latest?.sessionID === sessionID() ? use.latest?.told : shown()?.context) ?? NONE,
    spent: () => (spent.latest?.sessionID === sessionID() ? spent.latest : undefined),
  };
}
