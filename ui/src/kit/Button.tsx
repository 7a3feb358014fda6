import { Dynamic } from 'solid-js/web';
import { splitProps, type Component, type JSX } from 'solid-js';
import './button.css';

export type Icon = Component<{ size?: number; 'aria-hidden'?: boolean | 'true' | 'false' }>;

interface ButtonProps extends JSX.ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: 'plain' | 'primary' | 'danger';
  icon?: Icon;
}

export function Button(props: ButtonProps) {
  const [own, rest] = splitProps(props, ['tone', 'icon', 'children', 'class']);
  return (
    <button type="button" {...rest} class={`button ${own.class ?? ''}`} data-tone={own.tone ?? 'plain'}>
      {own.icon && <Dynamic component={own.icon} size={14} aria-hidden="true" />}
      {own.children}
    </button>
  );
}

interface IconButtonProps extends JSX.ButtonHTMLAttributes<HTMLButtonElement> {
  icon: Icon;
  /** The name for screen readers and the tooltip. */
  label: string;
  /** The shortcut, shown in the tooltip. */
  keys?: string;
  size?: number;
}

export function IconButton(props: IconButtonProps) {
  const [own, rest] = splitProps(props, ['icon', 'label', 'keys', 'size', 'class']);
  return (
    <button
      type="button"
      aria-label={own.label}
      title={own.keys ? `${own.label} (${own.keys})` : own.label}
      {...rest}
      class={`icon-button ${own.class ?? ''}`}
    >
      <Dynamic component={own.icon} size={own.size ?? 15} aria-hidden="true" />
    </button>
  );
}
