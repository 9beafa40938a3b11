import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { readFullLog } from '../engine/task/fold-log.ts';
import type { RerunSource } from './rerun-source.ts';
import { rerunTask, type TaskRerun } from './rerun-task.ts';

/** What a rerun of a task and all below it came to, the task itself first. */
export interface TreeRerun {
  readonly tasks: readonly TaskRerun[];
  /** Tasks below it whose logs are gone, or can't be read: why. */
  readonly lost: readonly { readonly task: string; readonly because: string }[];
}

export async function rerunTree(source: RerunSource, id: string): Promise<TreeRerun> {
  const tasks: TaskRerun[] = [];
  const lost: { readonly task: string; readonly because: string }[] = [];
  const known = new Set([id]);
  for (const task of known) {
    let events: readonly TaskEvent[] = [];
    try {
      events = readFullLog(source.store, task);
      tasks.push(await rerunTask(source, events));
    } catch (thrown) {
      if (task === id || !(thrown instanceof MusterError)) throw thrown;
      lost.push({ task, because: thrown.message });
    }
    for (const event of events) if (event.type === 'child.created') known.add(event.child);
  }
  return { tasks, lost };
}
