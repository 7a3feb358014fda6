import Check from 'lucide-solid/icons/check';
import Copy from 'lucide-solid/icons/copy';
import { createSignal, onCleanup } from 'solid-js';
import { en } from '../i18n/en';
import { IconButton } from './Button';
import { copyText } from './clipboard';

const SHOWN_MILLIS = 1500;

interface CopyButtonProps {
  /** Undefined if there is nothing to copy after all. */
  readonly text: () => string | undefined | Promise<string | undefined>;
  readonly label: string;
  readonly class?: string;
}

export function CopyButton(props: CopyButtonProps) {
  const [copied, setCopied] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));

  const copy = async () => {
    const given = props.text();
    // Without a pause where there is no need for one: a webview lets a page copy only right after a click.
    const text = typeof given === 'object' ? await given : given;
    if (text === undefined || !(await copyText(text))) return;
    setCopied(true);
    clearTimeout(timer);
    timer = setTimeout(() => setCopied(false), SHOWN_MILLIS);
  };
  return (
    <IconButton
      class={props.class}
      icon={copied() ? Check : Copy}
      label={copied() ? en.part.copied : props.label}
      size={14}
      onClick={() => void copy()}
    />
  );
}
