/**
 * How much the agent may do without a question, by project. One slice of the state.
 *
 * The core stores the mode; the settings know where full access was confirmed. Must not know the DOM.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { ModeView, PermissionMode, Project, Settings } from '../protocol';
import type { Core } from './app';

export interface Mode {
  /** `ask` until it is known. */
  readonly current: Accessor<PermissionMode>;
  /** Undefined until it is known. */
  readonly view: Accessor<ModeView | undefined>;
  /** Whether the mode can be chosen on this machine. */
  isOffered(mode: PermissionMode): boolean;
  /** Full access is first confirmed, once in each project. */
  choose(mode: PermissionMode): Promise<void>;
  /** The person has confirmed full access for this project. */
  confirmFull(): Promise<void>;
  /** The next mode that is offered. */
  cycle(): void;
  refresh(): Promise<void>;
}

export const MODES: readonly PermissionMode[] = ['ask', 'auto', 'full'];

interface Around {
  readonly core: Core;
  /** Shows the warning about full access. */
  readonly warn: () => void;
  readonly settings: Readonly<Pick<Settings, 'fullAccessConfirmed'>>;
  readonly save: (change: Partial<Settings>) => void;
}

export function createMode({ core, warn, settings, save }: Around): Mode {
  const { host, project, attempt } = core;
  const [known, setKnown] = createSignal<Readonly<Record<string, ModeView>>>({});
  const view = createMemo(() => known()[project()?.worktree ?? '']);
  const current = () => view()?.mode ?? 'ask';
  const put = ({ worktree }: Project, next: ModeView) => setKnown((all) => ({ ...all, [worktree]: next }));

  const refresh = async () => {
    const of = project();
    if (!of) return;
    const next = await host.permissionMode(of.id).catch(() => undefined);
    if (next) put(of, next);
  };
  createEffect(on(() => project()?.worktree, () => void refresh()));

  const set = async (mode: PermissionMode) => {
    const of = project();
    if (!of || mode === current()) return;
    const next = await attempt(() => host.setPermissionMode(of.id, mode));
    if (next) put(of, next);
  };
  const isOffered = (mode: PermissionMode) => mode !== 'auto' || view()?.sandbox.engine !== undefined;
  const choose = async (mode: PermissionMode) => {
    const of = project();
    if (!of || !isOffered(mode)) return;
    if (mode === 'full' && !settings.fullAccessConfirmed.includes(of.worktree)) return warn();
    await set(mode);
  };
  return {
    current,
    view,
    isOffered,
    choose,
    async confirmFull() {
      const of = project();
      if (!of) return;
      // By folder: another checkout of the project is another decision.
      save({ fullAccessConfirmed: [...new Set([...settings.fullAccessConfirmed, of.worktree])] });
      await set('full');
    },
    cycle() {
      const offered = MODES.filter(isOffered);
      const next = offered[(offered.indexOf(current()) + 1) % offered.length];
      if (next !== undefined) void choose(next);
    },
    refresh,
  };
}
