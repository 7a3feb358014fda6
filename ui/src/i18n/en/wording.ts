import { wording } from '../wording';

export const { list, number, plural } = wording('en');
