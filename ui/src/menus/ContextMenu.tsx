/**
 * The context menu of the whole window: by a right click, Shift+F10 or the menu key. The browser's own
 * never opens, also where there is nothing to offer.
 */
import { Content } from '@kobalte/core/context-menu';
import { DropdownMenu } from '@kobalte/core/dropdown-menu';
import { createSignal, For, onCleanup, onMount, Show } from 'solid-js';
import { en } from '../i18n/en';
import type { MenuItem } from '../kit/Menu';
import { useApp } from '../store/context';
import { groupsAt } from './groups';
import './context-menu.css';

interface Place {
  readonly x: number;
  readonly y: number;
}

interface Opened extends Place {
  readonly groups: readonly (readonly MenuItem[])[];
  /** What had the focus before. */
  readonly from: Element | null;
  readonly byKey: boolean;
}

export function ContextMenu() {
  const app = useApp();
  const [opened, setOpened] = createSignal<Opened | undefined>();

  const open = (at: Element, { x, y }: Place, byKey: boolean) => {
    const groups = groupsAt(app, at);
    const from = opened()?.from ?? document.activeElement;
    setOpened(groups.length > 0 ? { x, y, groups, from, byKey } : undefined);
  };
  const onContextMenu = (event: MouseEvent) => {
    event.preventDefault();
    const { target } = event;
    if (!(target instanceof Element) || target.closest('[role=menu]')) return;
    open(target, { x: event.clientX, y: event.clientY }, false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const asks = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
    const at = document.activeElement;
    if (!asks || event.defaultPrevented || !at || at.closest('[role=menu]')) return;
    event.preventDefault();
    open(at, placeAt(at), true);
  };
  onMount(() => {
    document.addEventListener('contextmenu', onContextMenu);
    document.addEventListener('keydown', onKeyDown);
  });
  onCleanup(() => {
    document.removeEventListener('contextmenu', onContextMenu);
    document.removeEventListener('keydown', onKeyDown);
  });

  return (
    <Show when={opened()} keyed>
      {(menu) => <Drawn menu={menu} onClose={() => opened() === menu && setOpened(undefined)} />}
    </Show>
  );
}

function Drawn(props: { menu: Opened; onClose: () => void }) {
  const giveBack = () => {
    const { from } = props.menu;
    if (from instanceof HTMLElement && from.isConnected) from.focus({ preventScroll: true });
  };
  const choose = (item: MenuItem) => {
    props.onClose();
    // The item may act on what has the focus, or move it.
    giveBack();
    item.run();
  };
  let list!: HTMLDivElement;
  const { x, y } = props.menu;
  return (
    <DropdownMenu
      open
      modal={false}
      preventScroll={false}
      placement="bottom-start"
      gutter={2}
      getAnchorRect={() => ({ x, y, width: 0, height: 0 })}
      onOpenChange={(open) => !open && props.onClose()}
    >
      <DropdownMenu.Portal>
        <Content
          class="menu context-menu"
          data-testid="context-menu"
          aria-label={en.menu.label}
          ref={list}
          onOpenAutoFocus={() => {
            if (props.menu.byKey) setTimeout(() => list.querySelector<HTMLElement>('[role=menuitem]:not([aria-disabled=true])')?.focus());
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // Unless the person has gone elsewhere.
            if (document.activeElement === document.body || list.contains(document.activeElement)) giveBack();
          }}
        >
          <For each={props.menu.groups}>
            {(items, index) => (
              <>
                <Show when={index() > 0}>
                  <DropdownMenu.Separator class="menu-line" />
                </Show>
                <For each={items}>{(item) => <Item item={item} onChoose={() => choose(item)} />}</For>
              </>
            )}
          </For>
        </Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}

function Item(props: { item: MenuItem; onChoose: () => void }) {
  return (
    <DropdownMenu.Item
      class="menu-item"
      data-tone={props.item.tone ?? 'plain'}
      disabled={props.item.disabled === true}
      closeOnSelect={false}
      onSelect={() => props.onChoose()}
    >
      <span>{props.item.label}</span>
      <Show when={props.item.keys}>
        <kbd>{props.item.keys}</kbd>
      </Show>
    </DropdownMenu.Item>
  );
}

/** Where the menu of an element opens that was not clicked: below its beginning. */
function placeAt(element: Element): Place {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const start = getComputedStyle(element).direction === 'rtl' ? right - 12 : left + 12;
  // A long list begins above the window, and ends below it.
  const y = Math.min(Math.max(top + Math.min(24, (bottom - top) / 2), 0), window.innerHeight - 8);
  return { x: Math.max(start, 0), y };
}

