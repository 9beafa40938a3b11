import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readGitFile } from './read-git-file.ts';
import { textOf, type Repository } from './repository.ts';

/** Files of refs that are read; a repository with more keeps most of them packed. */
const MOST_REFS = 5_000;
const MAX_PACKED_BYTES = 8 * 1024 * 1024;
const ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** What names commits beside the refs, of the working tree or of the repository. */
const PSEUDO_REFS = ['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REBASE_HEAD'];
const REMOTES = 'refs/remotes/';

/** Returns the ids of the objects that branches, tags, stashes and heads name: commits, and tags with a message. */
export function tipsOf(repository: Repository): ReadonlySet<string> {
  const { gitDirectory, commonDirectory } = repository;
  const heads = PSEUDO_REFS.map((name) => textOf(join(gitDirectory, name))?.trim() ?? '');
  return new Set([...heads, ...refsBelow(commonDirectory, 'refs/')].filter((id) => ID.test(id)));
}

/** Returns the ids that were fetched from other repositories. */
export function remoteTipsOf({ commonDirectory }: Repository): ReadonlySet<string> {
  return new Set(refsBelow(commonDirectory, REMOTES).filter((id) => ID.test(id)));
}

function refsBelow(directory: string, prefix: string): readonly string[] {
  const loose = filesBelow(join(directory, prefix)).map((path) => textOf(path)?.trim() ?? '');
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

function filesBelow(top: string): readonly string[] {
  const files: string[] = [];
  const waiting = [top];
  for (
    let directory = waiting.pop();
    directory !== undefined && files.length < MOST_REFS;
    directory = waiting.pop()
  ) {
    for (const entry of entriesOf(directory)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else files.push(path);
    }
  }
  return files;
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // Missing, or removed meanwhile: then it names nothing.
    return [];
  }
}
