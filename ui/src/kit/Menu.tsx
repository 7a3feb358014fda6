/** A button that opens a menu. Focus, arrow keys and Escape are Kobalte's. */
import { DropdownMenu } from '@kobalte/core/dropdown-menu';
import { For, Show, type JSX } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import type { Icon } from './Button';
import './menu.css';
import { visibleLine } from '../text/visible';

export interface MenuItem {
  readonly label: string;
  /** A context menu shows none. */
  readonly icon?: Icon;
  readonly note?: string;
  readonly title?: string;
  readonly keys?: string;
  readonly tone?: 'plain' | 'danger';
  readonly disabled?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** A list that may be long or load late. It is above the other items, so that they do not move. */
  readonly more?: { readonly label: string; readonly items: readonly MenuItem[] };
  readonly class?: string;
  readonly onOpen?: () => void;
  readonly children: JSX.Element;
}

export function Menu(props: MenuProps) {
  const onOpenChange = (open: boolean) => open && props.onOpen?.();
  return (
    <DropdownMenu gutter={4} placement="bottom-end" modal={false} preventScroll={false} onOpenChange={onOpenChange}>
      <DropdownMenu.Trigger class={`icon-button ${props.class ?? ''}`} aria-label={visibleLine(props.label)} title={visibleLine(props.label)}>
        {props.children}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <Show when={props.more?.items.length}>
            <DropdownMenu.Group class="menu-more">
              <DropdownMenu.GroupLabel class="menu-heading">{props.more?.label}</DropdownMenu.GroupLabel>
              <For each={props.more?.items}>{(item) => <Item item={item} />}</For>
            </DropdownMenu.Group>
          </Show>
          <For each={props.items}>{(item) => <Item item={item} />}</For>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}

function Item(props: { item: MenuItem }) {
  return (
    <DropdownMenu.Item
      class="menu-item"
      data-tone={props.item.tone ?? 'plain'}
      title={props.item.title}
      disabled={props.item.disabled === true}
      onSelect={() => props.item.run()}
    >
      <Show when={props.item.icon}>{(icon) => <Dynamic component={icon()} size={14} aria-hidden="true" />}</Show>
      <span>{props.item.label}</span>
      <Show when={props.item.note}>
        <span class="menu-aside">{props.item.note}</span>
      </Show>
      <Show when={props.item.keys}>
        <kbd>{props.item.keys}</kbd>
      </Show>
    </DropdownMenu.Item>
  );
}
