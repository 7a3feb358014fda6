/** The diff of a tool call, or of what a permission is asked for: it came with its text. */
import { en } from '../i18n/en';
import type { FileDiffView } from '../protocol';
import { DiffList } from './DiffList';
import { createStored } from './stored';

interface DiffViewProps {
  readonly files: readonly FileDiffView[];
  readonly sideBySide: boolean;
  readonly headers?: boolean;
  /** The folder that paths are relative to, if it is not the session's. */
  readonly root?: string;
  readonly label?: string;
  /** Loads the file with all unchanged lines. */
  readonly whole?: (file: FileDiffView) => Promise<FileDiffView | undefined>;
}

export function DiffView(props: DiffViewProps) {
  const { files, source } = createStored(
    () => props.files,
    () => props.whole,
  );
  return (
    <DiffList
      files={files()}
      source={source}
      sideBySide={props.sideBySide}
      headers={props.headers}
      root={props.root}
      label={props.label ?? en.diff.label}
    />
  );
}
