import Undo2 from 'lucide-solid/icons/undo-2';
import OctagonAlert from 'lucide-solid/icons/octagon-alert';
import ShieldBan from 'lucide-solid/icons/shield-ban';
import { For, Show } from 'solid-js';
import { DiffView } from '../diff/DiffView';
import { en } from '../i18n/en';
import { LongText } from '../kit/LongText';
import { visible, visibleLine } from '../text/visible';
import { useApp } from '../store/context';
import { CommentedDiff } from './CommentedDiff';
import type { Fact, PermissionDetails, ShownNeed } from './permission-details';
import './permission.css';

interface BodyProps {
  readonly details: PermissionDetails;
  /** The request whose changes can be commented. */
  readonly commented?: string;
}

/** All that one call would do and needs: the same alone and in the list of all calls. */
export function PermissionBody(props: BodyProps) {
  const what = () => props.details;
  return (
    <>
      <Show when={what().stopped}>{(wanted) => <Stopped wanted={wanted()} />}</Show>
      <Show when={what().dangers.length > 0}>
        <ul class="permission-dangers" aria-label={en.permission.dangers}>
          <For each={what().dangers}>
            {(danger) => (
              <li>
                <OctagonAlert size={14} aria-hidden="true" />
                <code>{visibleLine(danger.text)}</code>
                <span>{sentence(danger.why)}</span>
              </li>
            )}
          </For>
        </ul>
      </Show>
      <For each={what().facts}>{(fact) => <FactView fact={fact} labelled={what().facts.length > 1} />}</For>
      <Show when={what().said}>{(said) => <p class="prompt-note">{en.permission.said(visible(said()))}</p>}</Show>
      <Show when={what().needs.length > 0}>
        <ul class="permission-needs" aria-label={en.permission.needsTitle}>
          <For each={what().needs}>{(need) => <NeedView need={need} />}</For>
        </ul>
      </Show>
      <Show when={what().uncovered}>
        {(lines) => (
          <ul class="permission-uncovered" aria-label={en.permission.uncovered} data-testid="permission-uncovered">
            <For each={lines()}>
              {(line) => (
                <li class="prompt-note">
                  <Undo2 size={14} aria-hidden="true" />
                  <span>{sentence(line)}</span>
                </li>
              )}
            </For>
          </ul>
        )}
      </Show>
      <Show when={what().aside}>
        <p class="prompt-note">{en.permission.aside}</p>
      </Show>
      <Show when={what().files.length > 0}>
        <Show when={props.commented} keyed fallback={<Changes details={what()} />}>
          {(requestID) => <CommentedDiff requestID={requestID} files={what().files} />}
        </Show>
      </Show>
    </>
  );
}

function Stopped(props: { wanted: string }) {
  return (
    <p class="permission-stopped">
      <ShieldBan size={14} aria-hidden="true" />
      <span>
        <strong>{en.permission.stopped}.</strong> {sentence(props.wanted)} {en.permission.fromStart}
      </span>
    </p>
  );
}

function FactView(props: { fact: Fact; labelled: boolean }) {
  return (
    <div class="prompt-fact">
      <Show when={props.labelled}>
        <span class="prompt-label">{props.fact.label}</span>
      </Show>
      <For each={props.fact.values}>
        {(value) => <code>{props.fact.lines ? <LongText text={value} /> : <LongText text={visibleLine(value)} />}</code>}
      </For>
    </div>
  );
}

function NeedView(props: { need: ShownNeed }) {
  return (
    <li class="permission-need">
      <Show when={props.need.label}>
        <span class="permission-need-name">{visibleLine(props.need.label)}</span>
      </Show>
      <div class="permission-need-what">
        <For each={props.need.values}>{(value) => <code>{visibleLine(value)}</code>}</For>
        <For each={props.need.reasons}>{(reason) => <Reason text={sentence(reason)} />}</For>
      </div>
    </li>
  );
}

/** Names of commands and paths stand between backticks. */
function Reason(props: { text: string }) {
  return (
    <p class="prompt-note prompt-reason">
      <For each={props.text.split('`')}>{(piece, index) => (index() % 2 === 0 ? piece : <code>{piece}</code>)}</For>
    </p>
  );
}

function Changes(props: { details: PermissionDetails }) {
  const app = useApp();
  const single = () => props.details.files.length === 1;
  return (
    <DiffView
      files={props.details.files}
      headers={!single()}
      root={app.session()?.directory}
      sideBySide={false}
      label={en.permission.changes}
    />
  );
}

/** With a capital letter and a full stop, whatever it came with. */
function sentence(text: string): string {
  const words = visible(text.trim());
  const whole = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}
