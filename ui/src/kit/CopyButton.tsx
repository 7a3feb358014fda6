import Check from 'lucide-solid/icons/check';
import Copy from 'lucide-solid/icons/copy';
import { createSignal, onCleanup } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton, type Icon } from './Button';
import { copyText } from './clipboard';

const SHOWN_MILLIS = 1500;

interface CopyButtonProps {
  readonly text: () => string;
  /** Copies a text that the page does not have; false if that failed. */
  readonly copy?: () => Promise<boolean>;
  readonly label: string;
  readonly class?: string;
  readonly icon?: Icon;
  readonly ref?: (button: HTMLButtonElement) => void;
}

export function CopyButton(props: CopyButtonProps) {
  const [copied, setCopied] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));

  const copy = async () => {
    const done = props.copy ? await props.copy() : await copyText(props.text());
    if (!done) return;
    setCopied(true);
    clearTimeout(timer);
    timer = setTimeout(() => setCopied(false), SHOWN_MILLIS);
  };
  return (
    <IconButton
      ref={props.ref}
      class={props.class}
      icon={copied() ? Check : (props.icon ?? Copy)}
      label={copied() ? en.part.copied : props.label}
      size={14}
      onClick={() => void copy()}
    />
  );
}
