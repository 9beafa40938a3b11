import { UsageError } from '../../base/errors.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { summaryStep } from './choose-step.ts';
import { summarize } from './summarize.ts';

/** Summarises the context of a task, once, however large it is. Rejects when it is stopped. */
export async function compactNow(
  deps: EngineDeps,
  run: TaskRun,
  keep: string | null,
): Promise<void> {
  if (run.state.openTurn !== null) return summarize(deps, run, null);
  const step = deps.compaction?.() ?? (await summaryStep(deps, run, keep));
  if (step?.kind !== 'summarise') throw nothingToSummarise(run);
  return summarize(deps, run, step.event);
}

/** Rejects with UsageError where there is nothing that a summary could stand for. */
export async function requireCompactable(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { id } = run.spec;
  const { end, openTurn, conversation } = run.state;
  if (end === null) {
    throw new UsageError(
      `task ${id} has not ended: \`muster tasks resume ${id}\` goes on with it, and it makes room in its context when that is needed`,
    );
  }
  if (openTurn !== null || unansweredCalls(conversation).length > 0) {
    throw new UsageError(
      `task ${id} was ended in the middle of a turn: say first what comes next, \`muster tasks resume ${id} TEXT\``,
    );
  }
  if ((await summaryStep(deps, run, null)) === null) throw nothingToSummarise(run);
}

function nothingToSummarise({ spec, state }: TaskRun): UsageError {
  return new UsageError(
    `task ${spec.id} has nothing to summarise: its ${state.conversation.messages.length} messages are too few, or too short`,
  );
}
