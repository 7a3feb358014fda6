import CircleAlert from 'lucide-solid/icons/circle-alert';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { visible } from '../text/visible';
import type { MessageError } from '../protocol';
import { useApp } from '../store/context';

interface Said {
  readonly title: string;
  readonly detail?: string;
}

/** What went wrong with an answer, where it went wrong. A stop by the user is no alarm. */
export function MessageFailure(props: { error: MessageError; messageID?: string }) {
  const app = useApp();
  const providerName = (id: string) => app.models.list()?.providers.find((one) => one.id === id)?.name ?? id;
  const said = () => describe(props.error, providerName);
  /** Only the newest can be tried again: what came after another answer was built on it. */
  const again = () => {
    const last = app.timeline.open()?.messages.at(-1)?.info.id;
    return props.messageID !== undefined && props.messageID === last && !app.busy() ? props.messageID : undefined;
  };
  const ready = () => app.models.list()?.providers.find((one) => one.id === refused())?.ready === true;
  const refused = () => (props.error.name === 'ProviderAuthError' ? props.error.data.providerID : undefined);
  /** The session's model is gone: set up no more, or another machine's. */
  const stuck = () => {
    const use = app.models.current();
    const known = app.models.list() === undefined || use === undefined || app.models.find(use.model);
    return again() !== undefined && !known;
  };
  return (
    <Show
      when={props.error.name !== 'MessageAbortedError'}
      fallback={
        <p class="answer-stopped" data-error={props.error.name}>
          {en.error.aborted}
        </p>
      }
    >
      <div class="answer-failure" role="note" data-error={props.error.name}>
        <CircleAlert size={15} aria-hidden="true" />
        <div>
          <p class="answer-failure-title">{stuck() ? en.error.modelGone : visible(said().title)}</p>
          <Show when={said().detail}>
            <p class="answer-failure-detail">{visible(said().detail ?? '')}</p>
          </Show>
          <div class="answer-failure-actions">
            <Show when={stuck()}>
              <Button
                data-testid="choose-model"
                tone="primary"
                onClick={() => app.show({ name: 'models' })}
              >
                {en.error.chooseModel}
              </Button>
            </Show>
            <Show when={again()}>
              {(messageID) => (
                <Button
                  data-testid="try-again"
                  tone={stuck() || (refused() !== undefined && !ready()) ? 'plain' : 'primary'}
                  onClick={() => void app.tryAgain(messageID())}
                >
                  {en.timeline.tryAgain}
                </Button>
              )}
            </Show>
            <Show when={refused()}>
              {(providerID) => (
                <Button
                  data-testid="enter-key"
                  onClick={() => app.show({ name: 'settings', section: 'providers', providerID: providerID() })}
                >
                  {en.error.enterKey}
                </Button>
              )}
            </Show>
          </div>
        </div>
      </div>
    </Show>
  );
}

function describe(error: MessageError, providerName: (id: string) => string): Said {
  switch (error.name) {
    case 'ProviderAuthError':
      return { title: en.error.auth(providerName(error.data.providerID)), detail: error.data.message };
    case 'APIError': {
      const { statusCode, message } = error.data;
      return { title: statusCode ? en.error.apiStatus(statusCode) : en.error.api, detail: message };
    }
    case 'MessageOutputLengthError':
      return { title: en.error.length, detail: en.error.lengthHint };
    case 'MessageAbortedError':
      return { title: en.error.aborted };
    case 'UnknownError':
      return { title: en.error.unknown, detail: error.data.message };
    // Names that newer versions write.
    default:
      return { title: en.error.unknown, detail: (error as { name: string }).name };
  }
}
