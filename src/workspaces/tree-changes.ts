import type { GitPlace, WorkspaceGit } from './git.ts';

/** A path in which two trees of git differ. Paths are bytes (latin1). */
export interface TreeChange {
  /** The letter of git: A, D, M, R (renamed) or T (another type). */
  readonly letter: string;
  readonly path: string;
  /** The old path of a renamed file. */
  readonly from?: string;
  readonly before: TreeEntryVersion;
  readonly after: TreeEntryVersion;
  /** The number of lines; null in a binary file. */
  readonly added: number | null;
  readonly deleted: number | null;
}

/** An entry of a tree. */
export interface TreeEntryVersion {
  /** Such as `100644`; `000000` if there is nothing. */
  readonly mode: string;
  /** The id of the object. */
  readonly object: string;
}

/** The mode of the entry of a submodule, or of a repository in the working tree. */
export const SUBMODULE_MODE = '160000';
/** The mode of a link. */
export const LINK_MODE = '120000';

/** Lists the paths in which two trees (or commits) differ, with renames as git finds them. */
export async function listTreeChanges(
  git: WorkspaceGit,
  place: GitPlace,
  before: string,
  after: string,
): Promise<readonly TreeChange[]> {
  const options = [
    '-r',
    '-z',
    '-M',
    '--raw',
    '--numstat',
    '--no-abbrev',
    '--ignore-submodules=none',
  ];
  const args = ['diff-tree', ...options, '--no-ext-diff', '--no-textconv', before, after];
  return parseTreeChanges(await git.list(place, args));
}

/** Parses the output of `git diff-tree -z --raw --numstat`, split at NUL: first all raw entries, then all counts. */
function parseTreeChanges(parts: readonly string[]): readonly TreeChange[] {
  const raw: Omit<TreeChange, 'added' | 'deleted'>[] = [];
  const counts: (readonly [number | null, number | null])[] = [];
  for (let at = 0; at < parts.length;) {
    const part = parts[at] ?? '';
    if (part.startsWith(':')) {
      const [oldMode = '', mode = '', oldObject = '', object = '', status = ''] = part
        .slice(1)
        .split(' ');
      const letter = status.slice(0, 1);
      const isRename = letter === 'R' || letter === 'C';
      const first = parts[at + 1] ?? '';
      raw.push({
        letter,
        path: isRename ? (parts[at + 2] ?? '') : first,
        ...(isRename ? { from: first } : {}),
        before: { mode: oldMode, object: oldObject },
        after: { mode, object },
      });
      at += isRename ? 3 : 2;
      continue;
    }
    const [added = '', deleted = '', path = ''] = part.split('\t');
    counts.push([toCount(added), toCount(deleted)]);
    // The count of a renamed file has no path, and both paths follow.
    at += path === '' ? 3 : 1;
  }
  return raw.map((change, index) => {
    const [added = null, deleted = null] = counts[index] ?? [];
    return Object.assign(change, { added, deleted });
  });
}

function toCount(text: string): number | null {
  return text === '-' ? null : Number(text);
}
