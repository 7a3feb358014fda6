import { createMemo, createSignal, Show } from 'solid-js';
import { en } from '../i18n/en';
import { visible } from '../text/visible';
import { Button } from './Button';
import { LineList } from './LineList';
import './long-text.css';

/** Characters of a text that are drawn unasked. */
const DRAWN = 16_000;
/** Characters of one row: some lines, or a part of a long one. */
const ROW = 400;

/** Plain text. Of a very long one the beginning is drawn, and the rest on request. */
export function LongText(props: { text: string }) {
  return (
    <Show when={props.text.length > DRAWN} fallback={visible(props.text)}>
      {`${visible(props.text.slice(0, DRAWN))}…`}
      <WholeText load={() => props.text} />
    </Show>
  );
}

interface WholeTextProps {
  /** Undefined if it cannot be loaded. */
  readonly load: () => string | undefined | Promise<string | undefined>;
}

/** The whole text of a part whose drawn form leaves something out: plain, and only what is visible. */
export function WholeText(props: WholeTextProps) {
  const [text, setText] = createSignal<string>();
  const [loading, setLoading] = createSignal(false);
  const shown = () => text() !== undefined;
  const toggle = async () => {
    if (shown()) return setText(undefined);
    setLoading(true);
    try {
      setText(await props.load());
    } finally {
      setLoading(false);
    }
  };
  return (
    <div class="whole-text">
      <Button data-testid="show-rest" aria-expanded={shown()} disabled={loading()} onClick={() => void toggle()}>
        {shown() ? en.part.hideRest : en.part.showRest}
      </Button>
      <Show when={text()}>{(whole) => <Rows text={whole()} />}</Show>
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

/** Rows of about the same length: a text of a million short lines has few of them. */
export function rowsOf(text: string): { readonly text: string }[] {
  const rows = [];
  let from = 0;
  while (from < text.length) {
    const { end, next } = endOfRow(text, from);
    rows.push({ text: text.slice(from, end) });
    from = next;
  }
  return rows;
}

/** At the last line break within a row's length, which is not drawn, or else in the middle of a line. */
function endOfRow(text: string, from: number): { readonly end: number; readonly next: number } {
  const most = from + ROW;
  if (most >= text.length) return { end: text.length, next: text.length };
  // Looked for in the row only: in a line of megabytes, all that comes before it has no break either.
  const line = text.slice(from, most + 1).lastIndexOf('\n');
  return line > 0 ? { end: from + line, next: from + line + 1 } : { end: most, next: most };
}
