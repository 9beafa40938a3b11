import { formatDuration, plural } from '../../base/text.ts';
import {
  hasCriteria,
  type AcceptanceOutcome,
  type AcceptanceRun,
} from '../../protocol/acceptance.ts';
import { modelName, type ResolvedModel } from '../../protocol/model.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import * as endings from '../task/endings.ts';
import type { TaskEnding } from '../task/endings.ts';

/** The step after a final answer of a task whose work must be accepted. */
export type AcceptanceStep =
  /** Check the work. */
  | { readonly kind: 'accept' }
  /** Tell the model why its work is not accepted. */
  | { readonly kind: 'notice'; readonly id: string; readonly text: string }
  /** Let the next model continue. */
  | { readonly kind: 'escalate'; readonly model: ResolvedModel; readonly failedChecks: number }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

/** The number of checks that the last model may fail, and that each model before it may fail. */
const MAX_CHECKS = 3;
const MAX_CHECKS_BEFORE_ESCALATION = 2;

/**
 * Decides the step after a final answer. Returns null if there is nothing to accept, or if the work of this answer is
 * accepted. The decision depends only on the state, so that a crash allows no additional check.
 */
export function decideAcceptance(state: TaskState): AcceptanceStep | null {
  const { spec, acceptance, activation, turns, conversation } = state;
  if (spec.accept === undefined || !hasCriteria(spec.accept)) return null;
  const newest = acceptance.checks.at(-1);
  if (newest === undefined || newest.outcome.turn !== turns) return { kind: 'accept' };
  const { outcome } = newest;
  if (outcome.isPassed) return null;
  const next = spec.laterModels?.[acceptance.rung];
  const failed = acceptance.checks.filter(
    (check) => check.rung === acceptance.rung && !check.outcome.isPassed,
  ).length;
  if (next !== undefined && failed >= MAX_CHECKS_BEFORE_ESCALATION)
    return { kind: 'escalate', model: next, failedChecks: failed };
  if (next === undefined && failed >= MAX_CHECKS) {
    return { kind: 'end', ending: endings.endNotAccepted(state, describeRejection(outcome)) };
  }
  const id = `accept-${activation.number}-${turns}-${acceptance.rung}`;
  if (conversation.inputIds.has(id)) return null;
  return { kind: 'notice', id, text: formatRejection(outcome, { isNewModel: failed === 0 }) };
}

/** Returns the events that let the next model of a ladder continue the task. */
export function escalationEvents(
  { spec: { rights, limits, model } }: TaskState,
  { model: next, failedChecks }: Extract<AcceptanceStep, { kind: 'escalate' }>,
): readonly EventBody[] {
  const from = modelName(model);
  const reason = `the work of ${from} was not accepted in ${plural(failedChecks, 'check')}`;
  const chain = [`after ${from}: ${reason}`, ...next.chain];
  return [
    {
      type: 'terms.changed',
      rights,
      limits,
      model: { ...next, chain },
      escalation: { from },
    },
    { type: 'warning', message: `${reason}, and ${modelName(next)} goes on in its place` },
  ];
}

/** The maximum length of the output of a failed command in a notice, in UTF-16 units. */
const MAX_OUTPUT = 6_000;

function formatRejection(
  outcome: AcceptanceOutcome,
  { isNewModel }: { readonly isNewModel: boolean },
): string {
  const lines = [
    isNewModel
      ? 'The work so far is not accepted, and you continue it. Muster checked it on a clean copy of the directory:'
      : 'Your work is not accepted. Muster checked it on a clean copy of the directory:',
    ...outcome.problems.map((problem) => `- ${problem}`),
    ...outcome.runs.map(formatRun),
    ...(outcome.notes ?? []).map((note) => `(${note})`),
    'Correct the work, and then give your final answer again.',
  ];
  return lines.join('\n');
}

function formatRun({ command, exitCode, ms, output }: AcceptanceRun): string {
  const line = `- ${command}: ${describeExit(exitCode)} after ${formatDuration(ms)}`;
  return exitCode === 0 || output === '' ? line : `${line}\n${output.slice(-MAX_OUTPUT)}`;
}

function describeExit(exitCode: number | null): string {
  return exitCode === null ? 'did not end by itself' : `exit code ${exitCode}`;
}

/** The maximum length of the output of a failed command in the error of a task, in UTF-16 units. */
const MAX_ERROR_OUTPUT = 1_000;

function describeRejection({ problems, runs }: AcceptanceOutcome): string {
  const failed = runs.filter(({ exitCode }) => exitCode !== 0);
  const parts = [
    ...problems,
    ...failed.map(
      ({ command, exitCode, output }) =>
        `${command}: ${describeExit(exitCode)}\n${output.slice(-MAX_ERROR_OUTPUT)}`,
    ),
  ];
  return `the work was not accepted: ${parts.join('; ')}`;
}
