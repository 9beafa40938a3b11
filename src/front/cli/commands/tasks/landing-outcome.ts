import type { LandingOutcome } from '../../../../api/index.ts';
import { plural } from '../../../../base/text.ts';

/** Returns an outcome in the form for `--json`. */
export function outcomeJson({ kind: status, id, ...rest }: LandingOutcome) {
  return { task_id: id, status, ...rest };
}

/** Describes an outcome in lines for people. */
export function describeOutcome(
  outcome: LandingOutcome,
  done: 'applied' | 'undone',
): readonly string[] {
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
    ...outcome.left.map((path) => `${path}: left as it is, because it was changed meanwhile`),
    describeDone(outcome, done),
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
  if (outcome.kind === 'aborted') return `task ${id}: the files are as they were before`;
  const { paths, commit } = outcome;
  if (paths.length === 0) return `task ${id}: your files contain all its changes already`;
  const as = commit === null ? '' : ` as commit ${commit.slice(0, 10)}`;
  return `task ${id}: ${done} in ${plural(paths.length, 'file')}${as}: ${paths.join(', ')}`;
}
