/** What menus offer for a file of the project, and for an image. */
import { en } from '../i18n/en';
import type { App } from '../store/app';
import { copyText } from './clipboard';
import type { MenuItem } from './Menu';

/** `path` is absolute, or relative to the session's folder. */
export function fileItems(app: Pick<App, 'openFile'>, path: string, line: number | undefined): MenuItem[] {
  return [
    { label: en.menu.openInEditor, run: () => app.openFile(path, line) },
    { label: en.menu.copyPath, run: () => void copyText(path) },
  ];
}

type Needs = Pick<App, 'host' | 'attempt' | 'toasts'>;

export function imageItems(app: Needs, url: string): MenuItem[] {
  return [
    { label: en.lightbox.copy, run: () => void copyImage(app, url) },
    { label: en.lightbox.save, run: () => void saveImage(app, url) },
  ];
}

export async function copyImage({ host, attempt, toasts }: Needs, url: string): Promise<void> {
  const done = await attempt(() => host.copyImage(url).then(() => true));
  if (done) toasts.show({ tone: 'info', text: en.lightbox.copied });
}

export async function saveImage({ host, attempt, toasts }: Needs, url: string): Promise<void> {
  const done = await attempt(() => host.saveAttachment(url));
  if (done) toasts.show({ tone: 'info', text: en.lightbox.saved });
}
