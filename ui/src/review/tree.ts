/** The changed files as a tree, in which a folder with nothing but one folder in it is one row. Pure. */
import type { ReviewFile } from '../protocol';

export interface TreeRow {
  readonly key: string;
  readonly depth: number;
  readonly name: string;
  /** Absent for a folder. */
  readonly file?: ReviewFile;
  readonly open?: boolean;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: ReviewFile[];
}

export function treeRows(files: readonly ReviewFile[], closed: ReadonlySet<string>): TreeRow[] {
  const root: Folder = { folders: new Map(), files: [] };
  for (const file of files) {
    let folder = root;
    for (const name of file.path.split('/').slice(0, -1)) {
      const next: Folder = folder.folders.get(name) ?? { folders: new Map(), files: [] };
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.push(file);
  }
  return rowsOf(root, '', 0, closed);
}

function rowsOf(folder: Folder, path: string, depth: number, closed: ReadonlySet<string>): TreeRow[] {
  const folders = [...folder.folders].flatMap(([name, inner]) => {
    let [label, below, at] = [name, inner, `${path}${name}/`];
    for (let [only] = below.folders; only && below.folders.size === 1 && below.files.length === 0; [only] = below.folders) {
      label += `/${only[0]}`;
      at += `${only[0]}/`;
      below = only[1];
    }
    const open = !closed.has(at);
    return [{ key: at, depth, name: label, open }, ...(open ? rowsOf(below, at, depth + 1, closed) : [])];
  });
  const files = folder.files.map((file): TreeRow => ({ key: file.path, depth, name: file.path.slice(path.length), file }));
  return [...folders, ...files];
}

/** The order in which the diff shows the files: as the tree does. */
export function inTreeOrder(files: readonly ReviewFile[]): ReviewFile[] {
  return treeRows(files, new Set()).flatMap(({ file }) => (file ? [file] : []));
}
