/** Files that a revert leaves as they are. Pure. */
import type { RevertChange, RevertFile } from '../../protocol';

/** Whether a revert leaves a file as it is. */
export const isLeft = (change: RevertChange): boolean => !['restore', 'delete', 'create'].includes(change);

/** The person has to decide about the file. */
export const isUndecided = ({ change }: Pick<RevertFile, 'change'>): boolean => isLeft(change) && change !== 'others';
