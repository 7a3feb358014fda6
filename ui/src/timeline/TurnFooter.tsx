/** The end of a turn: what it changed, which opens the review, and what it took. */
import FileDiff from 'lucide-solid/icons/file-diff';
import Link from 'lucide-solid/icons/link';
import { createMemo, For, Show } from 'solid-js';
import { Counts } from '../diff/Counts';
import { en } from '../i18n/en';
import { CopyButton } from '../kit/CopyButton';
import { copyText } from '../kit/clipboard';
import type { MenuItem } from '../kit/Menu';
import { offerAround } from '../kit/offers';
import { useApp } from '../store/context';
import { changeOfTurn, totalsOfTurn } from '../store/turn-totals';
import type { Row } from '../store/turns';
import { isWhole, wholeMessage } from '../store/whole-text';
import { textOfTurn } from './turn-text';
import { count, longDuration, money, relativePath } from '../text/format';
import { linkTo } from '../text/place-link';
import { visibleLine } from '../text/visible';

const NAMED = 3;

/** `rows`: all rows of the turn. `running`: it is the last turn, and the agent works on it. */
export function TurnFooter(props: { turnID: string; rows: readonly Row[]; running: boolean }) {
  const app = useApp();
  const user = () => props.rows.find((row) => row.user)?.user;
  const answers = createMemo(() => props.rows.flatMap((row) => row.answers));
  const change = createMemo(() => changeOfTurn(user(), answers()));
  const files = () => change()?.files.map((file) => relativePath(file, app.session()?.directory)) ?? [];
  // The sums of a turn whose beginning is not loaded would be wrong.
  const totals = createMemo(() => (props.running || !user() ? undefined : totalsOfTurn(answers())));
  const used = () => {
    const sums = totals();
    if (!sums) return '';
    const { model, millis, tokens, cost } = sums;
    const input = tokens.input + tokens.cache.read + tokens.cache.write;
    const words = [app.models.nameOf(model), longDuration(millis), en.part.tokens(count(input), count(tokens.output)), money(cost)];
    return words.filter((word) => word).join(' · ');
  };
  const detail = () => {
    const tokens = totals()?.tokens;
    if (!tokens) return undefined;
    return en.part.tokensDetail(tokens.input, tokens.output, tokens.reasoning, tokens.cache.read, tokens.cache.write);
  };
  const link = () => linkTo({ sessionID: app.selected() ?? '', messageID: props.turnID });
  const said = () => textOfTurn(user(), answers());
  const isAllHere = () => [user(), ...answers()].every((message) => !message || isWhole(message));
  const copyWhole = async () => {
    const load = async () => {
      const [prompt, parts] = [user(), answers()];
      const whole = await Promise.all(parts.map(async (answer) => ({ ...answer, parts: (await wholeMessage(app.host, answer)).parts })));
      await app.host.copyText(textOfTurn(prompt && (await wholeMessage(app.host, prompt)), whole));
      return true;
    };
    return (await app.attempt(load)) ?? false;
  };
  const openReview = () => app.review.open({ scope: { kind: 'turn', messageID: props.turnID } });
  const items = (): MenuItem[] => [
    { label: en.work.turn.copy, run: () => void (isAllHere() ? copyText(said()) : copyWhole()) },
    { label: en.menu.copyTurnLink, run: () => void copyText(link()) },
    ...(change() ? [{ label: en.menu.showChanges, run: openReview }] : []),
  ];
  return (
    <>
      <Show when={change()}>
        {(changed) => (
          <button
            type="button"
            class="turn-summary"
            data-testid="turn-summary"
            title={files().map(visibleLine).join('\n')}
            onClick={openReview}
          >
            <FileDiff size={14} aria-hidden="true" />
            <span class="turn-summary-words">{en.part.changed(files().length)}</span>
            <Show when={changed().lines}>
              {(lines) => <Counts additions={lines().additions} deletions={lines().deletions} />}
            </Show>
            <span class="turn-summary-files">
              <For each={files().slice(0, NAMED)}>{(file) => <code>{visibleLine(file)}</code>}</For>
              <Show when={files().length > NAMED}>
                <span>{en.part.moreFiles(files().length - NAMED)}</span>
              </Show>
            </span>
            <span class="turn-summary-open">{en.part.openReview}</span>
          </button>
        )}
      </Show>
      <Show when={!props.running && said() !== ''}>
        <div class="turn-end" ref={offerAround('.session-turn', items)}>
          <Show when={used() !== ''}>
            <p class="meta-line turn-totals" data-testid="turn-totals" title={detail()}>
              {used()}
            </p>
          </Show>
          <div class="turn-actions">
            <CopyButton text={said} {...(!isAllHere() && { copy: copyWhole })} label={en.work.turn.copy} />
            <CopyButton icon={Link} text={link} label={en.work.turn.copyLink} />
          </div>
        </div>
      </Show>
    </>
  );
}
