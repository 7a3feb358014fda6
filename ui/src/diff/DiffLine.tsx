/** One line of a diff, or two beside each other. The text may still be loading; its place is known. */
import MoveUpRight from 'lucide-solid/icons/move-up-right';
import { createEffect, createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Spans } from '../kit/Spans';
import type { DiffLine as Text } from '../protocol';
import type { Cell } from './rows';

const SIGNS = { add: '+', del: '−', context: '\u2007' };
const TAB = 4;

interface CodeProps {
  readonly kind: Cell['kind'];
  readonly text: Text | undefined;
}

interface LineProps {
  readonly cell: Cell;
  readonly text: Text | undefined;
  readonly row: string;
  readonly selected: boolean;
}

/** A line of the unified view. */
export function UnifiedLine(props: LineProps) {
  return (
    <div
      class="diff-line"
      data-row={props.row}
      data-kind={props.cell.kind}
      data-kept={props.cell.kept ? '' : undefined}
      data-moved={props.cell.moved ? '' : undefined}
      data-selected={props.selected ? '' : undefined}
    >
      <Number value={props.cell.old} />
      <Number value={props.cell.new} />
      <Code kind={props.cell.kind} text={props.text} />
      <Moved cell={props.cell} />
    </div>
  );
}

interface PairProps {
  readonly row: string;
  readonly before?: Cell;
  readonly after?: Cell;
  readonly oldText: Text | undefined;
  readonly newText: Text | undefined;
  readonly selected: (cell: Cell) => boolean;
}

/** The old and the new line beside each other. */
export function PairedLines(props: PairProps) {
  return (
    <div class="diff-pair" data-row={props.row}>
      <Half side="old" cell={props.before} number={props.before?.old} text={props.oldText} selected={props.selected} />
      <Half side="new" cell={props.after} number={props.after?.new} text={props.newText} selected={props.selected} />
    </div>
  );
}

interface HalfProps {
  readonly side: 'old' | 'new';
  readonly cell: Cell | undefined;
  readonly number: number | undefined;
  readonly text: Text | undefined;
  readonly selected: (cell: Cell) => boolean;
}

function Half(props: HalfProps) {
  return (
    <Show when={props.cell} fallback={<div class="diff-line" data-kind="none" data-side={props.side} />}>
      {(cell) => (
        <div
          class="diff-line"
          data-side={props.side}
          data-cell={cell().row}
          data-kind={cell().kind}
          data-kept={cell().kept ? '' : undefined}
          data-moved={cell().moved ? '' : undefined}
          data-selected={props.selected(cell()) ? '' : undefined}
        >
          <Number value={props.number} />
          <Code kind={cell().kind} text={props.text} />
          <Show when={cell().kind !== 'context'}>
            <Moved cell={cell()} />
          </Show>
        </div>
      )}
    </Show>
  );
}

/** An unchanged line between two hunks. */
export function SameLine(props: { row: string; old: number; new: number; text: Text | undefined; paired: boolean }) {
  const cell = (): Cell => ({ row: -1, kind: 'context', old: props.old, new: props.new });
  return (
    <Show
      when={props.paired}
      fallback={<UnifiedLine row={props.row} cell={cell()} text={props.text} selected={false} />}
    >
      <PairedLines
        row={props.row}
        before={cell()}
        after={cell()}
        oldText={props.text}
        newText={props.text}
        selected={() => false}
      />
    </Show>
  );
}

/** Drawn by the style sheet: a copy of the lines does not have it. */
function Number(props: { value: number | undefined }) {
  return <span class="diff-number" aria-hidden="true" data-number={props.value ?? ''} />;
}

function Code(props: CodeProps) {
  // A wrapped line goes on below its own indentation.
  const indent = createMemo(() => columns(props.text));
  return (
    <>
      <span class="diff-sign" aria-hidden="true" data-sign={SIGNS[props.kind]} />
      <Show when={props.kind !== 'context'}>
        <span class="visually-hidden diff-kind">{en.diff.kinds[props.kind]}</span>
      </Show>
      <code
        data-waiting={props.text ? undefined : ''}
        ref={(code) => createEffect(() => code.style.setProperty('--indent', `${indent()}ch`))}
      >
        <Spans spans={props.text?.spans ?? []} />
        <Show when={props.text?.noNewline}>
          <span class="diff-no-newline">{en.diff.noNewline}</span>
        </Show>
      </code>
    </>
  );
}

/** The width of the white space at the beginning. */
function columns(text: Text | undefined): number {
  let width = 0;
  for (const { text: piece } of text?.spans ?? []) {
    for (const letter of piece) {
      if (letter === '\t') width += TAB - (width % TAB);
      else if (letter === ' ') width += 1;
      else return width;
    }
  }
  return width;
}

/** At the first of several lines that were moved. */
function Moved(props: { cell: Cell }) {
  return (
    <Show when={props.cell.moved?.first}>
      <span class="diff-moved" title={props.cell.kind === 'del' ? en.diff.movedAway : en.diff.movedHere}>
        <MoveUpRight size={11} aria-hidden="true" />
        {props.cell.kind === 'del' ? en.diff.movedAway : en.diff.movedHere}
      </span>
    </Show>
  );
}
