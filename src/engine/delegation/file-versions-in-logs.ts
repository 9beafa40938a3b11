import { MusterError } from '../../base/errors.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { FileVersions } from '../task/shared-files.ts';
import { foldLog } from '../task/fold-log.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Whose the changes are that the logs of a whole tree tell of. `root`: the id of the task at its top. */
export function fileVersionsInLogs(store: TaskStore, root: string): FileVersions {
  const stamps = new FileVersions();
  const tasks = store.list().filter((task) => task.root === root);
  // Changes are told upwards, too: the deepest task that has made one is the one that did.
  for (const { id } of tasks.toSorted((a, b) => a.depth - b.depth)) {
    const state = readable(store, id);
    if (state !== null) addStamps(stamps, state);
  }
  return stamps;
}

function addStamps(stamps: FileVersions, { spec, filesChanged, knownFiles }: TaskState): void {
  for (const { path, after } of filesChanged.values()) {
    // One that a task below it changed, it does not know of unless it has read it again.
    if (knownFiles.has(path) && knownFiles.get(path) === after) {
      stamps.set(path, { task: spec.id, agent: spec.agent.name, hash: after });
    }
  }
}

/** Null: damaged or deleted. Its changes are seen all the same, and only not whose they were. */
function readable(store: TaskStore, id: string): TaskState | null {
  try {
    return foldLog(store, id);
  } catch (thrown) {
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
