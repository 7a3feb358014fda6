/** What a person needs to report a fault: the log, and a description of the program. */
import { en } from '../i18n/en';
import type { App } from '../store/app';

type Needs = Pick<App, 'host' | 'toasts' | 'attempt'>;

export async function copyDiagnostics({ host, toasts, attempt }: Needs): Promise<void> {
  const copied = await attempt(() => host.copyDiagnostics(describePage()).then(() => true));
  if (copied) toasts.show({ tone: 'info', text: en.diagnostics.copied });
}

/** Says that a part of the core failed. The page is as it was, and can be loaded again. */
export async function watchFaults({ host, toasts }: Needs, reload: () => void): Promise<void> {
  await host.onFault((message) =>
    toasts.show({
      tone: 'error',
      text: en.diagnostics.fault,
      detail: message,
      action: { label: en.diagnostics.reload, run: reload },
    }),
  );
}

/** What only the page knows of itself. */
function describePage(): string {
  const { innerWidth, innerHeight, devicePixelRatio } = window;
  return `${navigator.userAgent}, ${innerWidth}×${innerHeight} at ${devicePixelRatio}`;
}
