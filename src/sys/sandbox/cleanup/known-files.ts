import { createHash } from 'node:crypto';
import type { EntryContent } from './file-content.ts';
import { existsWithoutLinks } from '../../files/path-lookup.ts';

/** The maximum number of remembered states. The oldest are forgotten first. */
const MOST = 5_000;

/** Earlier states of the user's protected files. Git may bring them back, for example from a stash. */
export class KnownFileStates {
  private readonly states = new Set<string>();

  add(files: Iterable<EntryContent>): void {
    for (const file of files) {
      const state = stateOf(file);
      this.states.delete(state);
      this.states.add(state);
      const [oldest] = this.states;
      if (this.states.size > MOST && oldest !== undefined) this.states.delete(oldest);
    }
  }

  /** Returns the paths of the files that exist in a remembered state. */
  among(files: readonly EntryContent[]): ReadonlySet<string> {
    const known = files.filter(
      (file) => existsWithoutLinks(file.path) && this.states.has(stateOf(file)),
    );
    return new Set(known.map(({ path }) => path));
  }
}

/**
 * Identifies the state of a file. Like in git, the only part of the mode that counts is whether the file is
 * executable.
 */
function stateOf({ path, kind, content, mode }: EntryContent): string {
  const hash = createHash('sha256').update(content).digest('hex');
  return [hash, kind, mode & 0o100, path].join(' ');
}
