/** A button that opens a menu. Focus, arrow keys and Escape are Kobalte's. */
import { DropdownMenu } from '@kobalte/core/dropdown-menu';
import { For, type JSX } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import type { Icon } from './Button';
import './menu.css';

export interface MenuItem {
  readonly label: string;
  readonly icon: Icon;
  readonly keys?: string;
  readonly tone?: 'plain' | 'danger';
  readonly run: () => void;
}

export function Menu(props: { label: string; items: readonly MenuItem[]; class?: string; children: JSX.Element }) {
  return (
    <DropdownMenu gutter={4} placement="bottom-end" modal={false} preventScroll={false}>
      <DropdownMenu.Trigger class={`icon-button ${props.class ?? ''}`} aria-label={props.label} title={props.label}>
        {props.children}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <For each={props.items}>
            {(item) => (
              <DropdownMenu.Item class="menu-item" data-tone={item.tone ?? 'plain'} onSelect={item.run}>
                <Dynamic component={item.icon} size={14} aria-hidden="true" />
                <span>{item.label}</span>
                {item.keys && <kbd>{item.keys}</kbd>}
              </DropdownMenu.Item>
            )}
          </For>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}
