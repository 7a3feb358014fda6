/** The field in which a comment on lines is written. */
import { onMount } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { isComposing } from '../kit/keys';
import './comment.css';

interface EditorProps {
  readonly text: string;
  /** The lines that it is about, in words. */
  readonly where: string;
  readonly saving?: boolean;
  readonly onWrite: (text: string) => void;
  readonly onSave: () => void;
  readonly onCancel: () => void;
}

export function CommentEditor(props: EditorProps) {
  const { comment: words } = en.review;
  let area!: HTMLTextAreaElement;
  onMount(() => area.focus());
  const can = () => props.saving !== true && props.text.trim() !== '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) can() && props.onSave();
    else if (event.key === 'Escape') props.onCancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="comment" data-editing>
      <textarea
        ref={area}
        rows="3"
        aria-label={words.addOn(props.where)}
        placeholder={words.placeholder}
        data-testid="comment-text"
        value={props.text}
        onInput={(event) => props.onWrite(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="comment-row">
        <span class="comment-where">{props.where}</span>
        <Button data-testid="cancel-comment" onClick={() => props.onCancel()}>
          {words.cancel}
        </Button>
        <Button tone="primary" data-testid="save-comment" disabled={!can()} onClick={() => props.onSave()}>
          {words.save}
        </Button>
      </div>
    </div>
  );
}
