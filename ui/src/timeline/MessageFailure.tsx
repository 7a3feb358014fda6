import CircleAlert from 'lucide-solid/icons/circle-alert';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { Button } from '../kit/Button';
import { LongText } from '../kit/LongText';
import { visible } from '../text/visible';
import type { MessageError } from '../protocol';
import { useApp } from '../store/context';

interface Said {
  readonly title: string;
  readonly detail?: string;
}

/** The error of an answer. A stop by the person is not shown as an error. */
export function MessageFailure(props: { error: MessageError; messageID?: string }) {
  const app = useApp();
  const providerName = (id: string) => app.models.list()?.providers.find((one) => one.id === id)?.name ?? id;
  const said = () => describe(props.error, providerName);
  /** Only the newest answer can be tried again, because later ones depend on it. */
  const again = () => {
    const open = app.timeline.open();
    const last = open?.hasNewer === false ? open.messages.at(-1)?.info.id : undefined;
    return props.messageID !== undefined && props.messageID === last && !app.busy() ? props.messageID : undefined;
  };
  const ready = () => app.models.list()?.providers.find((one) => one.id === refused())?.ready === true;
  const refused = () => (props.error.name === 'ProviderAuthError' ? props.error.data.providerID : undefined);
  /** The session's model is not configured here any more. */
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
            <p class="answer-failure-detail"><LongText text={said().detail ?? ''} /></p>
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
    // Error names of newer versions.
    default:
      return { title: en.error.unknown, detail: (error as { name: string }).name };
  }
}
