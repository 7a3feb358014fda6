import { For } from 'solid-js';
import { visible } from '../text/visible';
import './diff-text.css';

type Kind = 'file' | 'add' | 'del' | 'hunk' | 'context';

interface Line {
  readonly kind: Kind;
  readonly text: string;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * The lines of a unified diff. File headers are left out if there is only one file. They are
 * distinguished from changed lines by the line counts of the hunk before, never by how they begin.
 */
export function diffLines(diff: string): Line[] {
  const lines: Line[] = [];
  let old = 0;
  let fresh = 0;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = old <= 0 && fresh <= 0 ? HUNK.exec(line) : null;
    if (hunk) {
      old = Number(hunk[1] ?? 1);
      fresh = Number(hunk[2] ?? 1);
      lines.push({ kind: 'hunk', text: line });
    } else if (old > 0 || fresh > 0) {
      const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : 'context';
      if (!line.startsWith('\\')) {
        if (kind !== 'add') old -= 1;
        if (kind !== 'del') fresh -= 1;
      }
      lines.push({ kind, text: line });
    } else if (line.startsWith('\\')) {
      lines.push({ kind: 'context', text: line });
    } else {
      lines.push({ kind: 'file', text: line });
    }
  }
  const named = lines.filter((line) => line.kind === 'file' && line.text.startsWith('+++ '));
  const shown = named.length > 1 ? lines : lines.filter((line) => line.kind !== 'file');
  return shown.map(({ kind, text }) => ({ kind, text: visible(text) }));
}

/** A small diff as coloured text, for a permission request. */
export function DiffText(props: { diff: string; label: string }) {
  return (
    <pre class="diff-text" tabindex="0" role="group" aria-label={props.label}>
      <For each={diffLines(props.diff)}>
        {(line) => (
          <span class="diff-text-line" data-kind={line.kind}>
            {line.text + '\n'}
          </span>
        )}
      </For>
    </pre>
  );
}
