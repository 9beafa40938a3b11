import type { FileMemory } from '../protocol/tool.ts';
import type { TaskState } from '../protocol/state.ts';

interface Stamp {
  readonly task: string;
  readonly agent: string;
  readonly hash: string;
}

/**
 * Which task of a tree wrote a file last, by real path. For as long as the process lives: after a
 * restart a change is still seen by its hash, and only not whose it was.
 */
export class FileStamps {
  private readonly last = new Map<string, Stamp>();

  /** Set before it is written: where it never is, the hash fits nothing. */
  set(path: string, stamp: Stamp): void {
    this.last.set(path, stamp);
  }

  /** Who left the file as it is, when that was another task. */
  writer(path: string, hash: string, reader: string): Stamp | undefined {
    const stamp = this.last.get(path);
    return stamp?.hash === hash && stamp.task !== reader ? stamp : undefined;
  }
}

/** What the fold knows, and on top what calls under way have just seen. */
export function fileMemory(state: TaskState, stamps: FileStamps): FileMemory {
  const fresh = new Map<string, string>();
  const { id, agent } = state.spec;
  return {
    seen: (path) => fresh.get(path) ?? state.knownFiles.get(path) ?? undefined,
    remember: (path, hash) => void fresh.set(path, hash),
    willWrite: (path, hash) => stamps.set(path, { task: id, agent: agent.name, hash }),
    changedBy: (path, hash) => {
      const stamp = stamps.writer(path, hash, id);
      return stamp === undefined ? undefined : `task ${stamp.task} (${stamp.agent})`;
    },
  };
}

/** At most so many are named; the others are counted. */
const MOST_NAMED = 5;

/**
 * What the parent is told of its own reads that an ended child, with all below it, has made stale;
 * empty: none.
 */
export function staleReadsNote(parent: TaskState, child: TaskState): string {
  const stale = [...child.filesChanged.values()]
    .filter(({ path, after }) => {
      const known = parent.knownFiles.get(path);
      return known !== undefined && known !== null && known !== after;
    })
    .map(({ path }) => JSON.stringify(path));
  if (stale.length === 0) return '';
  const named = stale.slice(0, MOST_NAMED).join(', ');
  const rest = stale.length > MOST_NAMED ? ` and ${stale.length - MOST_NAMED} more` : '';
  return `[Changed since you read it: ${named}${rest}. Read again what you go on with.]`;
}
