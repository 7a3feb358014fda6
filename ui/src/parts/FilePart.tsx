import { FileChip } from '../media/FileChip';
import type { PartProps } from './registry';

export function FilePart(props: PartProps<'file'>) {
  return <FileChip file={props.part} />;
}
