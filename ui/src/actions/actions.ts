/**
 * All actions of the window, in one list.
 *
 * The palette, the keyboard, the menu bar and the list of shortcuts all read it. Shortcuts that the
 * person has set replace the built-in ones.
 */
import { createMemo, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import type { MenuItemView, MenuView, Settings } from '../protocol';
import { accelerator, chordName, type Chord } from './chords';

type ActionID = keyof typeof en.actions.names;
type MenuName = keyof typeof en.actions.menus;

export interface Action {
  readonly id: ActionID;
  /** The built-in shortcut. */
  readonly keys?: Chord;
  readonly menu?: MenuName;
  /** Starts a new group in its menu. */
  readonly apart?: boolean;
  /** Whether it can run now; always if missing. */
  readonly enabled?: () => boolean;
  /** Runs also while a dialog is open. */
  readonly always?: boolean;
  readonly run: () => void;
}

export interface Actions {
  readonly list: readonly Action[];
  /** The shortcut in use; undefined for none. */
  keysOf(id: ActionID): Chord | undefined;
  /** The shortcut in use, as shown on screen; empty for none. */
  nameOf(id: ActionID): string;
  /** The actions with this shortcut; more than one is a conflict. */
  withKeys(chord: Chord): readonly Action[];
  /** False if it cannot run now. */
  run(id: string): boolean;
  readonly menus: Accessor<MenuView[]>;
}

interface ActionsNeeds {
  readonly settings: Pick<Settings, 'shortcuts'>;
  /** A dialog or a picture is open. */
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
  // The menu bar and the page may both receive a key press, which must run the action only once.
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
