import { MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';

/** Candidates that the error for an ambiguous prefix names. */
const MAX_CANDIDATES = 5;

/** Throws `INVALID_PARAM` unless `id` is well formed, so that nothing else becomes part of a path. */
export function checkTaskId(id: string): void {
  if (isId(id)) return;
  throw new MusterError(
    'INVALID_PARAM',
    `${JSON.stringify(id)} is not a task id: 8 to 32 characters of a-z and 0-9`,
  );
}

export function taskNotFoundError(id: string): MusterError {
  return new MusterError(
    'NOT_FOUND',
    `there is no task ${JSON.stringify(id)}: \`muster tasks list\` shows them`,
  );
}

export function taskExistsError(id: string): MusterError {
  return new MusterError('CONFLICT', `there is already a task ${id}`);
}

export function taskInUseError(id: string, pid: number): MusterError {
  return new MusterError(
    'CONFLICT',
    `task ${id} is in use by process ${pid}: stop it there, or wait until it ends`,
  );
}

/**
 * The line to look at, as `path:line`, in a log that lacks the event with the specification of its task: the line of the
 * first problem, or the first line.
 */
export function locateMissingSpec(
  path: string,
  problems: readonly { readonly line: number }[],
): string {
  return `${path}:${problems[0]?.line ?? 1}`;
}

export function missingSpecError(id: string, location: string): MusterError {
  return new MusterError(
    'INTERNAL_ERROR',
    `task ${id} cannot continue: its specification is missing or damaged in ${location}`,
  );
}

/**
 * Finds the only id that begins with `prefix`. A complete id matches itself even if others begin with it. Throws
 * `NOT_FOUND`, or `INVALID_PARAM` if several ids match.
 */
export function resolveIdPrefix(prefix: string, ids: Iterable<string>): string {
  if (prefix === '') throw new MusterError('INVALID_PARAM', 'a task id is empty');
  const candidates: string[] = [];
  for (const id of ids) {
    if (id === prefix) return id;
    if (id.startsWith(prefix)) candidates.push(id);
  }
  const [first] = candidates;
  if (first === undefined) throw taskNotFoundError(prefix);
  if (candidates.length === 1) return first;
  const named = candidates.toSorted().slice(0, MAX_CANDIDATES).join(', ');
  const rest = candidates.length - MAX_CANDIDATES;
  throw new MusterError(
    'INVALID_PARAM',
    `${candidates.length} tasks begin with ${JSON.stringify(prefix)}: ${named}${rest > 0 ? ` and ${rest} more` : ''}; give more of the id`,
  );
}
