/** A comment below its line, and the field in which one is written. */
import Check from 'lucide-solid/icons/check';
import Pencil from 'lucide-solid/icons/pencil';
import RotateCcw from 'lucide-solid/icons/rotate-ccw';
import Trash from 'lucide-solid/icons/trash';
import { Show } from 'solid-js';
import { CommentEditor } from '../diff/CommentEditor';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import type { ReviewComment } from '../protocol';
import { useApp } from '../store/context';
import { visible } from '../text/visible';

export function CommentView(props: { comment: ReviewComment }) {
  const { comments } = useApp().review;
  const { comment: words } = en.review;
  const resolved = () => props.comment.state === 'resolved';
  const edit = () => {
    const { id, path, side, from, to, text } = props.comment;
    comments.begin({ id, path, version: '', side, from, to, text });
  };
  return (
    <Show when={comments.draft()?.id !== props.comment.id} fallback={<CommentField />}>
      <article class="comment" data-comment={props.comment.id} data-state={props.comment.state}>
        <p class="comment-head">
          <span>{en.review.lines(props.comment.from, props.comment.to)}</span>
          <Show when={resolved()}>
            <span>{words.resolved}</span>
          </Show>
          <Show when={props.comment.sent !== undefined}>
            <span>{words.sent}</span>
            <span data-changed={props.comment.changed ? '' : undefined}>
              {props.comment.changed ? words.changed : words.unchanged}
            </span>
          </Show>
          <span class="comment-acts">
            <Button
              class="review-act"
              icon={resolved() ? RotateCcw : Check}
              data-testid="resolve-comment"
              onClick={() => void comments.resolve(props.comment, !resolved())}
            >
              {resolved() ? words.reopen : words.resolve}
            </Button>
            <IconButton icon={Pencil} size={13} label={words.edit} data-testid="edit-comment" onClick={edit} />
            <IconButton
              icon={Trash}
              size={13}
              label={words.remove}
              data-testid="remove-comment"
              onClick={() => void comments.remove(props.comment)}
            />
          </span>
        </p>
        <Show when={!resolved()}>
          <p class="comment-text">{visible(props.comment.text)}</p>
        </Show>
      </article>
    </Show>
  );
}

export function CommentField() {
  const { comments } = useApp().review;
  return (
    <CommentEditor
      text={comments.draft()?.text ?? ''}
      where={en.review.lines(comments.draft()?.from ?? 0, comments.draft()?.to ?? 0)}
      saving={comments.saving()}
      onWrite={comments.write}
      onSave={() => void comments.save()}
      onCancel={comments.cancel}
    />
  );
}

/** All comments that were not sent go to the agent in one prompt. */
export function CommentsBar(props: { open: number }) {
  const app = useApp();
  const { comments } = app.review;
  const { comment: words } = en.review;
  const send = async () => {
    if (await comments.send()) await app.toLatest();
  };
  return (
    <div class="review-bar" data-testid="comments-bar">
      <span class="review-bar-words">{words.open(props.open)}</span>
      <input
        type="text"
        class="field"
        aria-label={words.words}
        placeholder={words.words}
        value={comments.words()}
        onInput={(event) => comments.setWords(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && void send()}
      />
      <Button tone="primary" data-testid="send-comments" onClick={() => void send()}>
        {words.send(props.open)}
      </Button>
    </div>
  );
}
