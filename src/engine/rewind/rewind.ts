import { isDeepStrictEqual } from 'node:util';
import { MusterError } from '../../base/errors.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { FileLeft } from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { LogFold } from '../task/fold-log.ts';
import { keepCurrentContent } from './restore-file.ts';
import { finishRewind, type FinishOptions, type OwnedLog } from './finish-rewind.ts';
import { planRewind, type RewindPlan } from './plan-rewind.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** What a rewind came to. */
export interface RewindOutcome {
  readonly plan: RewindPlan;
  /** Files that somebody changed while it was done: they are as they are. */
  readonly left: readonly FileLeft[];
}

/**
 * Does what a plan shows, all of it or nothing: files and conversation. It is written down before the first
 * file is touched; where a process dies after that, the next rewind or resume of the task ends it. Throws
 * MusterError, with nothing done: `CONFLICT` where something stands against it, where one of the tasks has
 * an owner, or where anything is not as it was shown.
 */
export async function rewind(
  store: TaskStore,
  plan: RewindPlan,
  options: Pick<FinishOptions, 'restore'> = {},
): Promise<RewindOutcome> {
  const { task, isThere, refused, roots } = plan;
  if (refused.length > 0) throw refusal(plan);
  if (isThere) return { plan, left: [] };
  const letGo = await store.hold(Object.keys(plan.logs).filter((id) => id !== task));
  try {
    const now = await planRewind(store, task, plan.wish);
    if (!isDeepStrictEqual(now, plan)) throw notAsShown(plan);
    const fold = new LogFold((visit) => void store.scan(task, visit));
    const log = store.claim(task, fold.add);
    try {
      if (fold.state === null || fold.state.lastSeq !== plan.logs[task]) throw notAsShown(plan);
      log.opening.forEach(fold.add);
      if (plan.ends === null) {
        for (const file of plan.files) await keepCurrentContent(store, file, roots);
        log.append([rewoundEvent(fold.state, plan)]).forEach(fold.add);
        await log.sync();
      }
      const { state } = fold;
      if (state === null) throw notAsShown(plan);
      const owned: OwnedLog = {
        state,
        record: (...events) => void log.append(events),
      };
      const left = await finishRewind(store, owned, { ...options, roots });
      await log.sync();
      return { plan, left };
    } finally {
      log.close();
    }
  } finally {
    letGo();
  }
}

function rewoundEvent(
  { activation }: TaskState,
  { to, undoes, dropped, files, after }: RewindPlan,
): EventBody {
  const { turns, end } = after;
  const number = activation.number + 1;
  return { type: 'task.rewound', to, undoes, stint: number, turns, end, dropped, files };
}

function refusal({ task, refused }: RewindPlan): MusterError {
  const lines = refused.map(({ path, because }) => `\n  ${path} ${because}`);
  return new MusterError(
    'CONFLICT',
    `task ${task} is not rewound, nothing was touched:${lines.join('')}`,
  );
}

function notAsShown({ task }: RewindPlan): MusterError {
  return new MusterError(
    'CONFLICT',
    `task ${task}, or a file that it changed, is not as it was shown any more: nothing was touched. Look again.`,
    { retryable: true },
  );
}
