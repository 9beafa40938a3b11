import type { LandingOutcome } from '../../../../api/index.ts';
import { plural } from '../../../../base/text.ts';

/** The outcome of one landing of several. `refused`: it failed with an error, and the others go on. */
export type OneLanding =
  | LandingOutcome
  | { readonly kind: 'refused'; readonly id: string; readonly problem: string };

/** Returns an outcome in the form for `--json`. */
export function outcomeJson(outcome: OneLanding) {
  if (outcome.kind === 'landed') {
    const { kind: status, id: task_id, leftInGit, checkInputs, ...fields } = outcome;
    return { task_id, status, ...fields, left_in_git: leftInGit, check_inputs: checkInputs };
  }
  if (outcome.kind === 'aborted') {
    const { kind: status, id: task_id, leftInGit, keptAt, ...fields } = outcome;
    return { task_id, status, ...fields, left_in_git: leftInGit, kept_at: keptAt };
  }
  const { kind: status, id: task_id, ...fields } = outcome;
  return { task_id, status, ...fields };
}

/** Describes an outcome in lines for people. */
export function describeOutcome(
  outcome: OneLanding,
  done: 'applied' | 'undone',
): readonly string[] {
  if (outcome.kind === 'refused') return [`task ${outcome.id}: not landed: ${outcome.problem}`];
  if (outcome.kind === 'conflicts') {
    const { id, conflicts } = outcome;
    return [
      `task ${id}: nothing was changed, because ${plural(conflicts.length, 'file')} cannot be merged:`,
      ...conflicts.flatMap(({ path, reason, hunks }) =>
        [`${path}: ${reason}`, hunks].filter((line) => line !== ''),
      ),
    ];
  }
  return [
    ...[...outcome.left, ...outcome.leftInGit].map(
      (part) => `${part}: left as it is, because it was changed meanwhile`,
    ),
    describeDone(outcome, done),
    ...(outcome.kind === 'landed' && outcome.checkInputs.length > 0
      ? [`the check used these files as the task left them: ${outcome.checkInputs.join(', ')}`]
      : []),
    ...(outcome.kind === 'landed' && outcome.kept !== null
      ? [`its workspace stays: ${outcome.kept}`]
      : []),
  ];
}

function describeDone(
  outcome: Exclude<LandingOutcome, { kind: 'conflicts' }>,
  done: 'applied' | 'undone',
): string {
  const { id } = outcome;
  if (outcome.kind === 'aborted') {
    const { left, leftInGit, keptAt } = outcome;
    const except = left.length + leftInGit.length === 0 ? '' : ', except those that were left';
    const contents = keptAt === null ? '' : `; their earlier contents are in ${keptAt}`;
    return `task ${id}: the files are as they were before${except}${contents}`;
  }
  const { paths, commit } = outcome;
  if (paths.length === 0) return `task ${id}: your files contain all its changes already`;
  const as = commit === null ? '' : ` as commit ${commit.slice(0, 10)}`;
  return `task ${id}: ${done} in ${plural(paths.length, 'file')}${as}: ${paths.join(', ')}`;
}
