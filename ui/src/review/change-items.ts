/** The context menu of a changed file, or of one of its hunks: what its buttons and its keys do. */
import type { DiffFile, Hunk } from '../diff/model';
import { en } from '../i18n/en';
import { copyText } from '../kit/clipboard';
import type { MenuItem } from '../kit/Menu';
import { lineOf } from './spots';
import type { ReviewTools } from './tools';

export function changeItems(tools: ReviewTools, file: DiffFile, hunk: Hunk | undefined): MenuItem[] {
  if (file.gone) return [];
  const kept = (hunk ? hunk.kept : file.kept) === 'all';
  const judge: MenuItem[] = [
    { label: kept ? en.review.unkeep : en.review.keep, keys: 'K', run: () => tools.keep(file, hunk) },
    {
      label: en.review.revert,
      keys: en.review.revertKey,
      disabled: !tools.canRevert(),
      run: () => tools.revert(file, hunk),
    },
  ];
  return [
    ...(tools.canKeep() ? judge : []),
    ...(hunk && tools.canComment() ? [{ label: en.review.comment.add, keys: 'C', run: () => tools.comment(file, hunk) }] : []),
    { label: en.menu.openInEditor, keys: 'O', run: () => tools.edit(file, lineOf(hunk)) },
    { label: en.menu.copyPath, run: () => void copyText(file.path) },
  ];
}
