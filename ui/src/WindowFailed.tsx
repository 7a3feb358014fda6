/** Takes the place of the window after an error that nothing else caught. The core goes on. */
import { ErrorBoundary, type JSX } from 'solid-js';
import { en } from './i18n/en';
import { Button } from './kit/Button';
import { copyText } from './kit/clipboard';
import { visible } from './text/visible';
import './timeline/empty.css';

export function WindowBoundary(props: { children: JSX.Element; reload?: () => void; onFailed?: (error: unknown) => void }) {
  return (
    <ErrorBoundary
      fallback={(error: unknown) => {
        props.onFailed?.(error);
        return <WindowFailed error={error} reload={props.reload ?? (() => location.reload())} />;
      }}
    >
      {props.children}
    </ErrorBoundary>
  );
}

function WindowFailed(props: { error: unknown; reload: () => void }) {
  const details = () => (props.error instanceof Error ? (props.error.stack ?? props.error.message) : String(props.error));
  const message = () => (props.error instanceof Error ? props.error.message : String(props.error));
  return (
    <section class="empty" data-state="window-failed">
      <h2>{en.windowFailed.title}</h2>
      <p>{en.windowFailed.body}</p>
      <p role="alert">{visible(message())}</p>
      <div class="empty-actions">
        <Button tone="primary" data-testid="reload-window" onClick={() => props.reload()}>
          {en.windowFailed.reload}
        </Button>
        <Button onClick={() => void copyText(details())}>{en.windowFailed.copy}</Button>
      </div>
    </section>
  );
}
