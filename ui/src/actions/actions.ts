/**
 * All actions of the window, in one list.
 *
 * The palette, the keyboard, the menu bar and the list of shortcuts all read it. Shortcuts that the
 * person has set replace the built-in ones.
 */
import { createMemo, type Accessor } from 'solid-js';
import { en } from '../i18n/en';
import type { MenuItem } from '../kit/Menu';
import type { MenuItemView, MenuRole, MenuView, Settings } from '../protocol';
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
  /** For an action that is on or off. */
  readonly checked?: () => boolean;
  /** The system does it, at least on a Mac. */
  readonly role?: MenuRole;
  /** In the menu bar only; its keys, if any, are those of the webview or the system. */
  readonly inMenuOnly?: boolean;
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
  /** The actions of these names that can run now, for a menu in the window. */
  items(ids: readonly ActionID[]): MenuItem[];
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
  const isEnabled = (action: Action) => action.enabled?.() !== false && (action.always === true || !needs.covered());
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
      if (!action || !isEnabled(action)) return false;
      const now = performance.now();
      if (last?.id === id && now - last.at < 60) return true;
      last = { id, at: now };
      action.run();
      return true;
    },
    menus: createMemo(
      () => {
        const view = (action: Action): MenuItemView[] => {
          const chord = keysOf(action.id);
          const item = {
            kind: 'action' as const,
            id: action.id,
            label: en.actions.names[action.id],
            keys: chord === undefined ? null : accelerator(chord),
            enabled: isEnabled(action),
            checked: action.checked?.() ?? null,
            role: action.role ?? null,
          };
          return action.apart === true ? [{ kind: 'separator' }, item] : [item];
        };
        return (Object.keys(en.actions.menus) as MenuName[]).flatMap((menu): MenuView[] => {
          const items = list.filter((action) => action.menu === menu).flatMap(view);
          return items.length === 0 ? [] : [{ label: en.actions.menus[menu], items }];
        });
      },
      undefined,
      // What is greyed depends on much that changes while an agent works.
      { equals: (a, b) => JSON.stringify(a) === JSON.stringify(b) },
    ),
    items: (ids) =>
      ids.flatMap((id): MenuItem[] => {
        const action = byID.get(id);
        if (!action || !isEnabled(action)) return [];
        const chord = keysOf(id);
        const keys = chord === undefined ? {} : { keys: chordName(chord) };
        return [{ label: en.actions.names[id], ...keys, run: () => action.run() }];
      }),
  };
}
