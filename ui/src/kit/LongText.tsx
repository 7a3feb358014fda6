import { createMemo, createSignal, Show } from 'solid-js';
import { en } from '../i18n/en';
import { visible } from '../text/visible';
import { Button } from './Button';
import { LineList } from './LineList';
import './long-text.css';

/** Characters of a text that are drawn unasked. */
const DRAWN = 16_000;
/** Characters of one row; a longer line takes several. */
const ROW = 2000;

/** Plain text. Of a very long one the beginning is drawn, and the rest on request. */
export function LongText(props: { text: string }) {
  return (
    <Show when={props.text.length > DRAWN} fallback={visible(props.text)}>
      {`${visible(props.text.slice(0, DRAWN))}…`}
      <WholeText text={props.text} />
    </Show>
  );
}

/** The whole text of a part whose drawn form leaves something out: plain, and only what is visible. */
export function WholeText(props: { text: string }) {
  const [shown, setShown] = createSignal(false);
  return (
    <div class="whole-text">
      <Button data-testid="show-rest" aria-expanded={shown()} onClick={() => setShown(!shown())}>
        {shown() ? en.part.hideRest : en.part.showRest}
      </Button>
      <Show when={shown()}>
        <Rows text={props.text} />
      </Show>
    </div>
  );
}

function Rows(props: { text: string }) {
  const rows = createMemo(() => rowsOf(props.text));
  return (
    <LineList class="whole-text-lines" rows={rows()} label={en.part.wholeText}>
      {(row) => <div class="whole-text-line">{visible(row.text) || ' '}</div>}
    </LineList>
  );
}

export function rowsOf(text: string): { readonly text: string }[] {
  return text.split('\n').flatMap((line) => {
    const rows = [{ text: line.slice(0, ROW) }];
    for (let from = ROW; from < line.length; from += ROW) rows.push({ text: line.slice(from, from + ROW) });
    return rows;
  });
}
