/**
 * Everything a person can do to the window as a whole, in one list.
 *
 * The palette, the keyboard, the menu bar and the list of shortcuts all read it; what an action
 * does is said nowhere else. The keys are the person's own where they set some.
 */
import { createMemo, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import type { MenuItemView, MenuView, Settings } from '../protocol';
import { accelerator, chordName, type Chord } from './chords';

type ActionID = keyof typeof en.actions.names;
type MenuName = keyof typeof en.actions.menus;

export interface Action {
  readonly id: ActionID;
  /** Without settings of the person's. */
  readonly keys?: Chord;
  readonly menu?: MenuName;
  /** Begins another group in its menu. */
  readonly apart?: boolean;
  /** It can be done now. */
  readonly enabled?: () => boolean;
  /** Also while the settings lie over the window. */
  readonly always?: boolean;
  readonly run: () => void;
}

export interface Actions {
  readonly list: readonly Action[];
  /** The keys in use; undefined for none. */
  keysOf(id: ActionID): Chord | undefined;
  /** The keys in use, for people; empty for none. */
  nameOf(id: ActionID): string;
  /** Which actions have these keys; more than one is a conflict. */
  withKeys(chord: Chord): readonly Action[];
  /** Runs it unless it cannot be done now. */
  run(id: string): boolean;
  readonly menus: Accessor<MenuView[]>;
}

interface ActionsNeeds {
  readonly settings: Pick<Settings, 'shortcuts'>;
  /** Something lies over the window. */
  readonly covered: () => boolean;
}

export function createActions(list: readonly Action[], needs: ActionsNeeds): Actions {
  const byID = new Map<string, Action>(list.map((action) => [action.id, action]));
  const keys = createMemo(() => {
    const own = needs.settings.shortcuts;
    return new Map(list.map((action) => [action.id, (own[action.id] ?? action.keys) || undefined] as const));
  });
  const byKeys = createMemo(() => {
    const found = new Map<Chord, Action[]>();
    for (const action of list) {
      const chord = keys().get(action.id);
      if (chord !== undefined) found.set(chord, [...(found.get(chord) ?? []), action]);
    }
    return found;
  });
  // A key that both the menu bar and the page hear must not act twice.
  let last: { id: string; at: number } | undefined;

  const keysOf = (id: ActionID) => keys().get(id);
  return {
    list,
    keysOf,
    nameOf: (id) => {
      const chord = keysOf(id);
      return chord === undefined ? '' : chordName(chord);
    },
    withKeys: (chord) => byKeys().get(chord) ?? [],
    run(id) {
      const action = byID.get(id);
      if (!action || action.enabled?.() === false) return false;
      if (needs.covered() && action.always !== true) return false;
      const now = performance.now();
      if (last?.id === id && now - last.at < 60) return true;
      last = { id, at: now };
      action.run();
      return true;
    },
    menus: createMemo(() =>
      (Object.keys(en.actions.menus) as MenuName[]).map((menu) => ({
        label: en.actions.menus[menu],
        items: list
          .filter((action) => action.menu === menu)
          .flatMap((action): MenuItemView[] => {
            const chord = keysOf(action.id);
            const label = en.actions.names[action.id];
            const keys = chord === undefined ? null : accelerator(chord);
            const item = { kind: 'action' as const, id: action.id, label, keys };
            return action.apart === true ? [{ kind: 'separator' }, item] : [item];
          }),
      })),
    ),
  };
}
