/** A button that shows the current choice and opens a menu of all options. */
import { DropdownMenu } from '@kobalte/core/dropdown-menu';
import Check from 'lucide-solid/icons/check';
import ChevronDown from 'lucide-solid/icons/chevron-down';
import { For, Show, type JSX } from 'solid-js';
import './menu.css';
import { visibleLine } from '../text/visible';

interface ChoiceOption {
  readonly value: string;
  readonly label: string;
  readonly note?: string;
  readonly disabled?: boolean;
  readonly tone?: 'danger';
}

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly ChoiceOption[];
  /** The shortcut, shown in the tooltip. */
  readonly keys?: string;
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly testID: string;
  /** Gets the button. */
  readonly triggerRef?: (button: HTMLElement) => void;
  /** Of the button. */
  readonly tone?: 'danger';
  /** The text of the button is never cut. */
  readonly keepWords?: boolean;
  /** Below the options. */
  readonly footer?: JSX.Element;
  /** Before the text of the button. */
  readonly children?: JSX.Element;
}

export function Choice(props: ChoiceProps) {
  const shown = () => visibleLine(props.options.find((option) => option.value === props.value)?.label ?? props.value);
  return (
    <DropdownMenu gutter={4} placement="top-start" modal={false} preventScroll={false}>
      <DropdownMenu.Trigger
        ref={(button: HTMLElement) => props.triggerRef?.(button)}
        class="choice"
        data-testid={props.testID}
        data-tone={props.tone}
        data-keep-words={props.keepWords ? '' : undefined}
        aria-label={`${props.label}: ${shown()}`}
        title={`${props.label}: ${shown()}${props.keys ? ` (${props.keys})` : ''}`}
      >
        {props.children}
        <span class="choice-words">{shown()}</span>
        <ChevronDown size={12} aria-hidden="true" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <DropdownMenu.RadioGroup value={props.value} onChange={props.onChoose}>
            <For each={props.options}>
              {(option) => (
                <DropdownMenu.RadioItem
                  class="menu-item menu-choice"
                  value={option.value}
                  disabled={option.disabled}
                  data-tone={option.tone}
                  closeOnSelect
                >
                  <DropdownMenu.ItemIndicator class="menu-check">
                    <Check size={14} aria-hidden="true" />
                  </DropdownMenu.ItemIndicator>
                  <span class="menu-words">
                    {visibleLine(option.label)}
                    <Show when={option.note}>{(note) => <span class="menu-note">{visibleLine(note())}</span>}</Show>
                  </span>
                </DropdownMenu.RadioItem>
              )}
            </For>
          </DropdownMenu.RadioGroup>
          {props.footer}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}
