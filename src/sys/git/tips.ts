import { join } from 'node:path';
import { readDirectoryEntries } from '../files/path-lookup.ts';
import { readGitFile } from './read-git-file.ts';
import { readGitText, type Repository } from './repository.ts';

/**
 * The maximum number of ref files and of directories that are read. A repository with more refs keeps most of them in
 * `packed-refs`.
 */
const MAX_REFS = 5_000;
const MAX_PACKED_BYTES = 8 * 1024 * 1024;
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** Files outside `refs` that name commits, in the git directory of a working tree or repository. */
const PSEUDO_REFS = ['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REBASE_HEAD'];

/** Returns the ids of the objects that branches, tags, stashes and heads name: commits, and annotated tags. */
export function readTips(repository: Repository): ReadonlySet<string> {
  const { gitDirectory, commonDirectory } = repository;
  const worktrees = join(commonDirectory, 'worktrees');
  const headDirectories = new Set([
    gitDirectory,
    commonDirectory,
    ...readDirectoryEntries(worktrees).map(({ name }) => join(worktrees, name)),
  ]);
  const heads = [...headDirectories].flatMap((directory) =>
    PSEUDO_REFS.map((name) => readGitText(join(directory, name))?.trim() ?? ''),
  );
  return new Set([...heads, ...listRefIds(commonDirectory, 'refs/')].filter((id) => ID.test(id)));
}

/** Returns the ids of the refs that were fetched from this remote. */
export function readRemoteTips({ commonDirectory }: Repository, remote: string): readonly string[] {
  return listRefIds(commonDirectory, `refs/remotes/${remote}/`).filter((id) => ID.test(id));
}

function listRefIds(directory: string, prefix: string): readonly string[] {
  const loose = listRefFiles(join(directory, prefix)).map(
    (path) => readGitText(path)?.trim() ?? '',
  );
  const packed = readGitFile(join(directory, 'packed-refs'), MAX_PACKED_BYTES);
  if (packed === 'missing' || packed === null) return loose;
  const lines = packed.toString('latin1').split('\n');
  return [
    ...loose,
    ...lines.flatMap((line) => {
      const [id = '', name = ''] = line.split(' ');
      return name.startsWith(prefix) ? [id] : [];
    }),
  ];
}

function listRefFiles(top: string): readonly string[] {
  const files: string[] = [];
  const waiting = [top];
  let directories = 0;
  for (
    let directory = waiting.pop();
    directory !== undefined && files.length < MAX_REFS && directories < MAX_REFS;
    directory = waiting.pop()
  ) {
    directories += 1;
    for (const entry of readDirectoryEntries(directory)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else files.push(path);
    }
  }
  return files;
}
