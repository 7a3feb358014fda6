import type { Span } from '../protocol';
import { LineList } from './LineList';
import { Spans } from './Spans';
import './code-lines.css';

/** A piece of a file with its line numbers. */
export function CodeLines(props: { lines: readonly (readonly Span[])[]; first: number; label: string }) {
  const width = () => String(props.first + props.lines.length - 1).length;
  return (
    <LineList class="code-lines" rows={props.lines} label={props.label}>
      {(line, index) => (
        <div class="code-line">
          <span
            class="line-number"
            aria-hidden="true"
            data-number={String(props.first + index()).padStart(width(), '\u2007')}
          />
          <code>
            <Spans spans={line} />
          </code>
        </div>
      )}
    </LineList>
  );
}
