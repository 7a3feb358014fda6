import X from 'lucide-solid/icons/x';
import { For, Show } from 'solid-js';
import { en } from '../i18n/en';
import type { Toasts as ToastList } from '../store/toasts';
import { Button, IconButton } from './Button';
import './toasts.css';
import { visible } from '../text/visible';

export function Toasts(props: { toasts: ToastList }) {
  return (
    <div class="toasts-place">
      <section
        class="toasts"
        role="region"
        aria-label={en.toast.region}
        onPointerEnter={() => props.toasts.hold(true)}
        onPointerLeave={() => props.toasts.hold(false)}
        onFocusIn={() => props.toasts.hold(true)}
        onFocusOut={() => props.toasts.hold(false)}
      >
        <For each={props.toasts.list()}>
          {(toast) => (
            <div
              class="toast"
              data-testid="toast"
              data-tone={toast.tone}
              role={toast.tone === 'error' ? 'alert' : 'status'}
            >
              <div class="toast-text">
                <p>{visible(toast.text)}</p>
                <Show when={toast.detail}>{(detail) => <p class="toast-detail">{visible(detail())}</p>}</Show>
              </div>
              <Show when={toast.action}>
                {(action) => (
                  <Button
                    onClick={() => {
                      action().run();
                      props.toasts.dismiss(toast.id);
                    }}
                  >
                    {action().label}
                  </Button>
                )}
              </Show>
              <IconButton icon={X} label={en.error.dismiss} onClick={() => props.toasts.dismiss(toast.id)} />
            </div>
          )}
        </For>
      </section>
    </div>
  );
}
