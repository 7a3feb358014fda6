import { For } from 'solid-js';
import { visible } from '../kit/visible';
import './diff-text.css';

type Kind = 'add' | 'del' | 'hunk' | 'context';

/** The lines of a unified diff, without the lines that only name the file. */
export function diffLines(diff: string): { kind: Kind; text: string }[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  const start = lines.findIndex((line) => line.startsWith('@@'));
  return lines.slice(Math.max(start, 0)).map((text) => ({ kind: kindOf(text), text: visible(text) }));
}

function kindOf(line: string): Kind {
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'add';
  return line.startsWith('-') ? 'del' : 'context';
}

/** A small diff as plain text in colours, for a prompt. Larger ones are the review's. */
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
