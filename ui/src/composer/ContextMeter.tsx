/** How full the model's context is and what the session cost: one glance, and the details behind it. */
import { Popover } from '@kobalte/core/popover';
import { createMemo, createResource, Show } from 'solid-js';
import { en } from '../i18n/en';
import { count, money } from '../kit/format';
import { useApp } from '../store/context';
import { contextOf, keptOf } from './context';
import './meter.css';

const ROUND = 2 * Math.PI * 6;

export function ContextMeter() {
  const app = useApp();
  const messages = () => app.state().open?.messages ?? [];
  const context = createMemo(() => {
    const use = app.models.current();
    return contextOf(
      messages().map(({ info }) => info),
      use && app.models.find(use.model)?.model,
    );
  });
  /** Changes with every step that has ended, and with the session. */
  const finished = createMemo(() => {
    const sessionID = app.state().open?.sessionID;
    const last = messages().findLast(({ info }) => info.role === 'assistant' && info.time.completed !== undefined);
    return sessionID === undefined ? undefined : `${sessionID} ${last?.info.id ?? ''}`;
  });
  const [usage] = createResource(finished, (key) => app.attempt(() => app.host.sessionUsage(key.split(' ')[0] ?? '')));
  const cost = () => usage.latest?.cost ?? 0;
  const share = () => {
    const { used, usable } = context();
    return usable === 0 ? 0 : Math.min(1, used / usable);
  };
  const percent = () => `${Math.round(share() * 100)}%`;
  const said = () => (context().usable === 0 ? en.context.unknown(count(context().used)) : en.context.share(percent()));

  return (
    <Show when={app.selected() !== undefined && context().used > 0}>
      <Popover placement="top-end" gutter={6} modal={false}>
        <Popover.Trigger
          class="choice meter"
          data-testid="context-meter"
          data-full={share() > 0.85 ? '' : undefined}
          aria-label={en.context.button(said(), money(cost()))}
          title={en.context.button(said(), money(cost()))}
        >
          <svg class="meter-ring" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <circle class="meter-track" cx="8" cy="8" r="6" />
            <circle class="meter-used" cx="8" cy="8" r="6" stroke-dasharray={`${share() * ROUND} ${ROUND}`} />
          </svg>
          <span class="choice-words">{context().usable === 0 ? count(context().used) : percent()}</span>
          <Show when={cost() > 0}>
            <span class="meter-cost" data-testid="session-cost">
              {money(cost())}
            </span>
          </Show>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content class="meter-popover" aria-label={en.context.title}>
            <p class="meter-title">{en.context.title}</p>
            <dl class="meter-facts">
              <dt>{en.context.used}</dt>
              <dd>{en.context.of(count(context().used), context().limit)}</dd>
              <Show when={context().usable > 0}>
                <dt>{en.context.compactsAt}</dt>
                <dd>{count(context().usable)}</dd>
              </Show>
              <Show when={usage.latest}>
                {(total) => (
                  <>
                    <dt>{en.context.total}</dt>
                    <dd data-testid="session-tokens">
                      {en.context.tokens(
                        count(total().tokens.input + total().tokens.cache.read + total().tokens.cache.write),
                        count(total().tokens.output + total().tokens.reasoning),
                      )}
                    </dd>
                    <dt>{en.context.cached}</dt>
                    <dd>{count(total().tokens.cache.read)}</dd>
                    <dt>{en.context.cost}</dt>
                    <dd>{money(total().cost) || en.context.free}</dd>
                  </>
                )}
              </Show>
            </dl>
            <Show when={context().usable > 0}>
              <p class="meter-note">
                {context().willCompact
                  ? en.context.willCompact
                  : en.context.compaction(count(context().usable), count(keptOf(context().usable)))}
              </p>
            </Show>
          </Popover.Content>
        </Popover.Portal>
      </Popover>
    </Show>
  );
}
