import type { LoopQueue } from '../../base/loop-queue.ts';
import type { Ending } from './endings.ts';
import type { EngineDeps } from './deps.ts';
import type { PrefixCache } from '../prompt/prefix.ts';
import type { RunningTasks } from './running-tasks.ts';
import type { TaskRun } from './task-run.ts';

/** What tasks are made with. */
export interface Workshop {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
  /** Tasks to be made, or taken up again: each is at work before the next ones are made. */
  readonly beginnings: LoopQueue;
  /** What a run of a template does instead of a conversation, to its end. */
  readonly driveItems: (run: TaskRun) => Promise<Ending>;
}
