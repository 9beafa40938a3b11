import { isDeepStrictEqual } from 'node:util';
import { MusterError } from '../../base/errors.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { UnrestoredFile } from '../../protocol/events/rewound.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { LogFold } from '../task/fold-log.ts';
import { backUpContent, finishRewind, type FinishOptions, type OwnedLog } from './restore-file.ts';
import { planRewind, type RewindPlan } from './plan-rewind.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The outcome of a rewind. */
export interface RewindOutcome {
  readonly plan: RewindPlan;
  /** The files that another program changed during the rewind, which were not restored. */
  readonly left: readonly UnrestoredFile[];
}

/**
 * Carries out the plan of a rewind, completely or not at all. The rewind is written to the log before the first file
 * is changed; if the process dies after that, the next rewind or resume of the task finishes it. Throws `CONFLICT`,
 * without having changed anything, if the plan contains refusals, if a process owns one of the tasks, or if anything
 * has changed since the plan was made.
 */
export async function rewind(
  store: TaskStore,
  plan: RewindPlan,
  options: Pick<FinishOptions, 'restore'> = {},
): Promise<RewindOutcome> {
  const { task, isThere, refused, roots } = plan;
  if (refused.length > 0) throw refusedPlanError(plan);
  if (isThere) return { plan, left: [] };
  const release = await store.lockTasks(Object.keys(plan.logs).filter((id) => id !== task));
  try {
    const now = await planRewind(store, task, plan.wish);
    if (!isDeepStrictEqual(now, plan)) throw outdatedPlanError(plan);
    const fold = new LogFold((visit) => void store.scan(task, visit));
    const log = store.claim(task, fold.add);
    try {
      if (fold.state === null || fold.state.lastSeq !== plan.logs[task])
        throw outdatedPlanError(plan);
      log.opening.forEach(fold.add);
      if (plan.ends === null) {
        for (const file of plan.files) await backUpContent(store, file, roots);
        log.append([rewoundEvent(fold.state, plan)]).forEach(fold.add);
        await log.sync();
      }
      const { state } = fold;
      if (state === null) throw outdatedPlanError(plan);
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
    release();
  }
}

function rewoundEvent(
  { activation }: TaskState,
  { to, undoes, dropped, files, after, only }: RewindPlan,
): EventBody {
  const { turns, end } = after;
  const number = activation.number + 1;
  return {
    type: 'task.rewound',
    to,
    undoes,
    stint: number,
    turns,
    end,
    dropped,
    files,
    ...(only === 'files' ? { only } : {}),
  };
}

function refusedPlanError({ task, refused }: RewindPlan): MusterError {
  const lines = refused.map(({ path, because }) => `\n  ${path} ${because}`);
  const message = `task ${task} was not rewound and nothing was changed:${lines.join('')}`;
  return new MusterError('CONFLICT', message);
}

function outdatedPlanError({ task }: RewindPlan): MusterError {
  return new MusterError(
    'CONFLICT',
    `task ${task} or one of its files has changed since the plan was made: nothing was changed. Make a new plan.`,
    { retryable: true },
  );
}
