import { createResource, Show } from 'solid-js';
import type { DiffFile } from '../diff/model';
import { PictureDiff } from '../diff/PictureDiff';
import { en } from '../i18n/en';
import type { ReviewPictures } from '../protocol';
import { useApp } from '../store/context';
import { visibleLine } from '../text/visible';

/** A binary file: its pictures before and after, if it is one. */
export function Pictures(props: { file: DiffFile }) {
  const app = useApp();
  const [found] = createResource(
    () => ({ version: props.file.version, scope: app.review.scope() }),
    async ({ scope }): Promise<ReviewPictures> => {
      const id = app.selected();
      return id === undefined ? {} : app.host.reviewPictures(id, scope, props.file.path).catch(() => ({}));
    },
  );
  const address = (url: string | undefined) => (url === undefined ? undefined : app.host.pictureURL(url));
  const any = () => found.latest?.old !== undefined || found.latest?.new !== undefined;
  return (
    <Show when={any()} fallback={<span>{found.loading ? en.diff.loading : en.diff.notes.binary}</span>}>
      <PictureDiff old={address(found.latest?.old)} new={address(found.latest?.new)} name={visibleLine(props.file.path)} />
    </Show>
  );
}
