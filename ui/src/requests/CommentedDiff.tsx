/** What a call would change, with comments on its lines. They go to the agent with a denial. */
import MessageSquarePlus from 'lucide-solid/icons/message-square-plus';
import Pencil from 'lucide-solid/icons/pencil';
import Trash from 'lucide-solid/icons/trash';
import { createMemo, createSignal, onCleanup, onMount, Show } from 'solid-js';
import { CommentEditor } from '../diff/CommentEditor';
import { DiffList } from '../diff/DiffList';
import { changedRows, commentPlace, eachLine, type DiffFile, type Hunk, type LinePosition, type RowRange } from '../diff/model';
import type { Extra } from '../diff/rows';
import { createStored } from '../diff/stored';
import { en } from '../i18n/en';
import { IconButton } from '../kit/Button';
import type { FileDiffView } from '../protocol';
import { useApp } from '../store/context';
import type { TypedComment } from '../store/typed-answers';
import { visible } from '../text/visible';

interface DiffProps {
  readonly requestID: string;
  readonly files: readonly FileDiffView[];
}

export function CommentedDiff(props: DiffProps) {
  const app = useApp();
  const { comment: words } = en.review;
  const { files, source } = createStored(
    () => props.files,
    () => undefined,
  );
  const list = () => app.typed.comments(props.requestID);
  const put = (next: readonly TypedComment[]) => app.typed.setComments(props.requestID, next);
  const change = (key: string, to: Partial<TypedComment>) =>
    put(list().map((one) => (one.key === key ? { ...one, ...to } : one)));
  const remove = (key: string) => put(list().filter((one) => one.key !== key));
  const [selection, setSelection] = createSignal<RowRange | undefined>();
  const hunkOf = (range: RowRange) => {
    const file = files().find(({ version }) => version === range.version);
    const hunk = file && source.body(file)?.hunks[range.hunk];
    return file && hunk && { file, hunk };
  };

  const begin = (file: DiffFile, hunk: Hunk, rows: { readonly from: number; readonly to: number }) => {
    const at = source.body(file)?.hunks.indexOf(hunk) ?? -1;
    const range: RowRange = { path: file.path, version: file.version, hunk: at, ...rows };
    const place = commentPlace(range, hunk);
    const key = `${file.path}:${place.side}:${place.from}-${place.to}`;
    setSelection(undefined);
    if (list().some((one) => one.key === key)) return change(key, { draft: list().find((one) => one.key === key)?.text ?? '' });
    const quote: string[] = [];
    eachLine(hunk, (line) => {
      const number = line[place.side];
      if (number === undefined || number < place.from || number > place.to) return;
      quote.push((source.line(file, at, line.row)?.spans ?? []).map(({ text }) => text).join(''));
    });
    put([...list(), { key, path: file.path, ...place, quote: quote.join('\n'), text: '', draft: '' }]);
  };
  const cancel = (one: TypedComment) => (one.text === '' ? remove(one.key) : change(one.key, { draft: undefined }));
  const save = (one: TypedComment) => change(one.key, { text: (one.draft ?? '').trim(), draft: undefined });

  const places = createMemo(() => list().map(({ key, path, side, to }) => ({ key, path, side, line: to })), [], {
    equals: (a, b) => JSON.stringify(a) === JSON.stringify(b),
  });
  const extras = createMemo(() => {
    const byFile = new Map<string, Extra[]>();
    for (const { path, ...extra } of places()) byFile.set(path, [...(byFile.get(path) ?? []), extra]);
    return byFile;
  });
  // A click on the number of a line, or a drag over several, is for a comment.
  const onPointerUp = () => {
    const range = selection();
    const found = range && hunkOf(range);
    if (found) begin(found.file, found.hunk, range);
  };
  onMount(() => {
    window.addEventListener('pointerup', onPointerUp);
    onCleanup(() => window.removeEventListener('pointerup', onPointerUp));
  });
  return (
    <DiffList
      files={files()}
      source={source}
      headers={props.files.length > 1}
      root={app.session()?.directory}
      sideBySide={false}
      label={en.permission.changes}
      selection={selection()}
      onSelect={setSelection}
      extras={(path) => extras().get(path)}
      actions={(file, hunk) => (
        <Show when={hunk}>
          {(one) => (
            <IconButton
              icon={MessageSquarePlus}
              size={14}
              label={words.add}
              data-testid="comment-hunk"
              onClick={() => begin(file, one(), changedRows(one()))}
            />
          )}
        </Show>
      )}
      extra={(_file, extra) => (
        <Show when={list().find(({ key }) => key === extra.key)}>
          {(one) => (
            <Show when={one().draft !== undefined} fallback={<Written one={one()} onEdit={() => change(extra.key, { draft: one().text })} onRemove={() => remove(extra.key)} />}>
              <CommentEditor
                text={one().draft ?? ''}
                where={linesOf(one())}
                onWrite={(draft) => change(extra.key, { draft })}
                onSave={() => save(one())}
                onCancel={() => cancel(one())}
              />
            </Show>
          )}
        </Show>
      )}
    />
  );
}

function Written(props: { one: TypedComment; onEdit: () => void; onRemove: () => void }) {
  const { comment: words } = en.review;
  return (
    <article class="comment" data-comment={props.one.key}>
      <p class="comment-head">
        <span>{linesOf(props.one)}</span>
        <span class="comment-acts">
          <IconButton icon={Pencil} size={13} label={words.edit} onClick={() => props.onEdit()} />
          <IconButton icon={Trash} size={13} label={words.remove} onClick={() => props.onRemove()} />
        </span>
      </p>
      <p class="comment-text">{visible(props.one.text)}</p>
    </article>
  );
}

function linesOf({ from, to }: Pick<LinePosition, 'from' | 'to'>): string {
  return en.review.lines(from, to);
}
