import { createHash } from 'node:crypto';
import type { EntryContent } from './file-content.ts';
import { existsWithoutLinks } from '../../files/path-lookup.ts';

/** The oldest are forgotten first. */
const MOST = 5_000;

/** What protected files of the user held before git ran: git may bring it back, as after a stash. */
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

  /** The paths of those that are there, as they were once. */
  among(files: readonly EntryContent[]): ReadonlySet<string> {
    const known = files.filter(
      (file) => existsWithoutLinks(file.path) && this.states.has(stateOf(file)),
    );
    return new Set(known.map(({ path }) => path));
  }
}

/** Git keeps of the mode only whether a file can be run. */
function stateOf({ path, kind, content, mode }: EntryContent): string {
  const hash = createHash('sha256').update(content).digest('hex');
  return [hash, kind, mode & 0o100, path].join(' ');
}
