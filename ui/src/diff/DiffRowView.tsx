import ChevronRight from 'lucide-solid/icons/chevron-right';
import UnfoldVertical from 'lucide-solid/icons/unfold-vertical';
import { Match, Show, Switch, type JSX } from 'solid-js';
import { en } from '../i18n/en';
import { FileLink } from '../kit/FileLink';
import { Spans } from '../kit/Spans';
import { visible, visibleLine } from '../text/visible';
import type { DiffLine, FileDiffView } from '../protocol';
import { Counts } from './Counts';
import type { DiffRow, Gap } from './rows';

interface RowProps {
  readonly row: DiffRow;
  readonly canUnfold: boolean;
  readonly root?: string;
  readonly actions?: (file: FileDiffView, hunk: number | undefined) => JSX.Element;
  readonly onUnfold: (file: FileDiffView, gap: string | undefined) => void;
  readonly onToggle: (path: string) => void;
}

type RowOf<K extends DiffRow['kind']> = Extract<DiffRow, { kind: K }>;

export function DiffRowView(props: RowProps) {
  const as = <K extends DiffRow['kind']>(kind: K) => (props.row.kind === kind ? (props.row as RowOf<K>) : undefined);
  return (
    <Switch>
      <Match when={as('line')}>{(row) => <Line line={row().line} />}</Match>
      <Match when={as('pair')}>{(row) => <Pair before={row().before} after={row().after} />}</Match>
      <Match when={as('file')}>{(row) => <FileRow {...props} row={row()} />}</Match>
      <Match when={as('hunk')}>{(row) => <HunkRow {...props} row={row()} />}</Match>
      <Match when={as('rest')}>
        {(row) => (
          <div class="diff-hunk" data-row={row().key}>
            <GapButton gap={row().gap} onUnfold={() => props.onUnfold(row().file, row().gap.id)} when={props.canUnfold} />
          </div>
        )}
      </Match>
      <Match when={as('note')}>{(row) => <NoteRow {...props} row={row()} />}</Match>
    </Switch>
  );
}

function FileRow(props: Omit<RowProps, 'row'> & { row: RowOf<'file'> }) {
  const file = () => props.row.file;
  const place = () => (props.root === undefined ? file().path : `${props.root}/${file().path}`);
  return (
    <div
      class="diff-file"
      tabindex="-1"
      role="group"
      aria-label={en.diff.file(visibleLine(file().path))}
      data-row={props.row.key}
      data-file={file().path}
      data-status={file().status}
    >
      <button
        type="button"
        class="diff-file-toggle"
        aria-expanded={!props.row.closed}
        aria-label={(props.row.closed ? en.diff.open : en.diff.close)(visibleLine(file().path))}
        onClick={() => props.onToggle(file().path)}
      >
        <ChevronRight class="chevron" size={14} aria-hidden="true" />
      </button>
      <span class="diff-file-name">
        <Show when={file().oldPath}>
          {(old) => <span class="diff-old-path">{visibleLine(old())} → </span>}
        </Show>
        <FileLink path={place()} label={file().path} />
      </span>
      <Show when={file().status !== 'modified'}>
        <span class="diff-status">{en.diff.status[file().status]}</span>
      </Show>
      <Counts additions={file().additions} deletions={file().deletions} />
      <span class="diff-actions">{props.actions?.(file(), undefined)}</span>
    </div>
  );
}

function HunkRow(props: Omit<RowProps, 'row'> & { row: RowOf<'hunk'> }) {
  const hunk = () => props.row.file.hunks[props.row.hunk];
  const label = () => en.diff.hunk(props.row.hunk + 1, props.row.file.hunks.length);
  return (
    <div
      class="diff-hunk"
      tabindex="-1"
      role="group"
      aria-label={label()}
      data-row={props.row.key}
      data-hunk={props.row.hunk}
      data-quiet={props.row.gap.lines === 0 && !props.actions ? '' : undefined}
    >
      <GapButton
        gap={props.row.gap}
        onUnfold={() => props.onUnfold(props.row.file, props.row.gap.id)}
        when={props.canUnfold}
      />
      <span class="diff-heading">{visible(hunk()?.heading ?? '')}</span>
      <span class="diff-actions">{props.actions?.(props.row.file, props.row.hunk)}</span>
    </div>
  );
}

function GapButton(props: { gap: Gap; when: boolean; onUnfold: () => void }) {
  const words = () => (props.gap.lines === undefined ? en.diff.rest : en.diff.gap(props.gap.lines));
  return (
    <Show when={!props.gap.open && props.gap.lines !== 0}>
      <Show when={props.when} fallback={<span class="diff-gap">{words()}</span>}>
        <button type="button" class="diff-gap" onClick={() => props.onUnfold()}>
          <UnfoldVertical size={12} aria-hidden="true" />
          {words()}
        </button>
      </Show>
    </Show>
  );
}

function NoteRow(props: Omit<RowProps, 'row'> & { row: RowOf<'note'> }) {
  const words = () => {
    const { file, note } = props.row;
    if (note === 'folded') return en.diff.folded[file.folded ?? 'tooLong'];
    if (note === 'renamed') return en.diff.renamed(visibleLine(file.oldPath ?? ''), visibleLine(file.path));
    return en.diff.notes[note];
  };
  return (
    <div class="diff-note" tabindex="-1" data-row={props.row.key} data-note={props.row.note}>
      <span>{words()}</span>
      <Show when={props.row.note === 'folded' && props.canUnfold}>
        <button type="button" class="diff-gap" onClick={() => props.onUnfold(props.row.file, undefined)}>
          {en.diff.showAnyway(props.row.file.additions + props.row.file.deletions)}
        </button>
      </Show>
    </div>
  );
}

const SIGNS = { add: '+', del: '−', context: '\u2007' };

function Line(props: { line: DiffLine }) {
  return (
    <div class="diff-line" data-kind={props.line.kind}>
      <span class="diff-number" aria-hidden="true" data-number={props.line.old ?? ''} />
      <span class="diff-number" aria-hidden="true" data-number={props.line.new ?? ''} />
      <Code line={props.line} />
    </div>
  );
}

function Pair(props: { before?: DiffLine; after?: DiffLine }) {
  return (
    <div class="diff-pair">
      <Half line={props.before} number={props.before?.old} />
      <Half line={props.after} number={props.after?.new} />
    </div>
  );
}

function Half(props: { line?: DiffLine; number?: number }) {
  return (
    <Show when={props.line} fallback={<div class="diff-line" data-kind="none" />}>
      {(line) => (
        <div class="diff-line" data-kind={line().kind}>
          <span class="diff-number" aria-hidden="true" data-number={props.number ?? ''} />
          <Code line={line()} />
        </div>
      )}
    </Show>
  );
}

function Code(props: { line: DiffLine }) {
  return (
    <>
      <span class="diff-sign" aria-hidden="true" data-sign={SIGNS[props.line.kind]} />
      <Show when={props.line.kind !== 'context'}>
        <span class="visually-hidden">{en.diff.kinds[props.line.kind]}</span>
      </Show>
      <code>
        <Spans spans={props.line.spans} />
        <Show when={props.line.noNewline}>
          <span class="diff-no-newline">{en.diff.noNewline}</span>
        </Show>
      </code>
    </>
  );
}
