import { isInside } from '../base/path-inside.ts';
import type { FileEvent } from '../protocol/languages.ts';

/** The maximum number of changed files of which a server is told. It is started anew after more changes. */
const MAX_PENDING = 500;

/** The changes of files of which a server was not told yet. */
export class PendingEvents {
  private readonly roots: readonly string[];
  private readonly kinds = new Map<string, FileEvent['kind']>();
  /** True if there were too many changes to list them. */
  isOverfull = false;
  private hasUnknown = false;

  /** `roots`: the directories that the server sees. Changes elsewhere are left out. */
  constructor(roots: readonly string[]) {
    this.roots = roots;
  }

  add({ path, kind }: FileEvent): void {
    if (this.isOverfull || !this.roots.some((root) => isInside(root, path))) return;
    this.kinds.set(path, mergeKinds(this.kinds.get(path), kind));
    if (this.kinds.size <= MAX_PENDING) return;
    this.isOverfull = true;
    this.kinds.clear();
  }

  /** Adds changes that are not known one by one. */
  addUnknown(): void {
    this.hasUnknown = true;
    this.isOverfull = false;
  }

  /** Tells whether there have been changes that are not known one by one, and forgets them. */
  takeUnknown(): boolean {
    const { hasUnknown } = this;
    this.hasUnknown = false;
    return hasUnknown;
  }

  /** Removes and returns the changes, without those of some files. */
  take(except: ReadonlySet<string>): readonly FileEvent[] {
    const taken = Array.from(this.kinds, ([path, kind]) => ({ path, kind }));
    const events = taken.filter(({ path }) => !except.has(path));
    for (const { path } of events) this.kinds.delete(path);
    return events;
  }
}

/** Merges two changes of one file, of which the first may be missing. */
function mergeKinds(
  first: FileEvent['kind'] | undefined,
  next: FileEvent['kind'],
): FileEvent['kind'] {
  if (next === 'deleted' || first === undefined) return next;
  // A file that was deleted and created again has changed.
  return first === 'created' ? 'created' : 'changed';
}
