/** Shares a session: first a preview of what is redacted and where it goes, then the address. */
import ExternalLink from 'lucide-solid/icons/external-link';
import { createMemo, createResource, createSignal, For, Match, onCleanup, Show, Switch } from 'solid-js';
import { uiError } from '../host/host';
import { en } from '../i18n/en';
import { Button, IconButton } from '../kit/Button';
import { CopyButton } from '../kit/CopyButton';
import { filePathOf } from '../text/file-url';
import { visible } from '../text/visible';
import type { SharePreview } from '../protocol';
import { useApp } from '../store/context';
import { SmallDialog } from './SmallDialog';

export function ShareDialog() {
  return (
    <SmallDialog name="share" title={en.share.title}>
      {(place) => <Sharing sessionID={place.sessionID} />}
    </SmallDialog>
  );
}

function Sharing(props: { sessionID: string }) {
  const app = useApp();
  const url = createMemo(() => app.sessions.get(props.sessionID)?.share?.url);
  /** Shared before, but the session has changed since. */
  const [again, setAgain] = createSignal(false);
  return (
    <Show
      when={!again() && url()}
      fallback={<Preview sessionID={props.sessionID} onShared={() => setAgain(false)} />}
    >
      {(found) => <Shared sessionID={props.sessionID} url={found()} onAgain={() => setAgain(true)} />}
    </Show>
  );
}

/** The preview: nothing is shared yet. */
function Preview(props: { sessionID: string; onShared: () => void }) {
  const app = useApp();
  const [sharing, setSharing] = createSignal(false);
  const [preview] = createResource(
    () => props.sessionID,
    (id) => app.host.sharePreview(id),
  );
  // The update that it is shared may arrive before the answer, and remove this component.
  let gone = false;
  onCleanup(() => (gone = true));
  const share = async () => {
    setSharing(true);
    const done = await app.transfer.share(props.sessionID);
    setSharing(false);
    if (done && !gone) props.onShared();
  };
  return (
    <Switch>
      <Match when={preview.error}>
        <p class="dialog-error" role="alert">
          {visible(uiError(preview.error).message)}
        </p>
      </Match>
      <Match when={preview.loading}>
        <p class="dialog-note" role="status">
          {en.share.looking}
        </p>
      </Match>
      <Match when={preview()}>
        {(shown) => (
          <>
            <p class="dialog-text">{goesTo(shown())}</p>
            <Redacted preview={shown()} />
            <div class="dialog-actions">
              <Button onClick={() => app.dismiss('share')}>{en.share.cancel}</Button>
              <Button
                tone="primary"
                data-testid="share-now"
                ref={focusWhenThere}
                disabled={sharing()}
                onClick={() => void share()}
              >
                {shown().endpoint === undefined ? en.share.toFile : en.share.toServer}
              </Button>
            </div>
          </>
        )}
      </Match>
    </Switch>
  );
}

function Redacted(props: { preview: SharePreview }) {
  return (
    <Show when={props.preview.redacted.length > 0} fallback={<p class="dialog-note">{en.share.nothingLeftOut}</p>}>
      <div>
        <p class="dialog-note">{en.share.leftOut}</p>
        <ul class="dialog-list" data-testid="left-out" aria-label={en.share.leftOut}>
          <For each={props.preview.redacted}>
            {(one) => (
              <li>
                <span>{visible(one.what)}</span>
                <code>{visible(one.sample)}</code>
                <span class="dialog-count">{en.share.times(one.count)}</span>
              </li>
            )}
          </For>
        </ul>
      </div>
      <p class="dialog-note">{en.share.lookYourself}</p>
    </Show>
  );
}

function Shared(props: { sessionID: string; url: string; onAgain: () => void }) {
  const app = useApp();
  const path = () => filePathOf(props.url);
  const shown = () => path() ?? props.url;
  const open = () => void app.attempt(() => app.host.openShared(props.sessionID));
  const takeBack = async () => {
    if (await app.transfer.unshare(props.sessionID)) app.dismiss('share');
  };
  return (
    <>
      <p class="dialog-text">{path() === undefined ? en.share.isOnServer : en.share.isInFile}</p>
      <div class="dialog-place" data-testid="share-place">
        <code>{visible(shown())}</code>
        <CopyButton text={shown} label={path() === undefined ? en.share.copyAddress : en.share.copyPath} />
        <IconButton icon={ExternalLink} size={14} label={en.share.open} onClick={open} />
      </div>
      <p class="dialog-note">{en.share.aMoment}</p>
      <div class="dialog-actions">
        <Button tone="danger" data-testid="unshare" onClick={() => void takeBack()}>
          {en.share.takeBack}
        </Button>
        <Button onClick={() => props.onAgain()}>{en.share.again}</Button>
        <Button
          tone="primary"
          ref={focusWhenThere}
          onClick={() => app.dismiss('share')}
        >
          {en.share.done}
        </Button>
      </div>
    </>
  );
}

/** Focuses it once it is in the document, after the dialog has opened. */
function focusWhenThere(button: HTMLButtonElement): void {
  setTimeout(() => button.focus());
}

function goesTo({ messages, endpoint }: SharePreview): string {
  return endpoint === undefined ? en.share.becomesFile(messages) : en.share.goesTo(messages, visible(endpoint));
}
