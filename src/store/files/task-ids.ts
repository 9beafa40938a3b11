import { MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';

/** How many candidates an ambiguous prefix names. */
const MAX_CANDIDATES = 5;

/** Throws `INVALID_PARAM` for what is not an id: it must not reach a path. */
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
 * The place in a log to look at, where the event is missing that holds the specification of its task:
 * the first problem, or where there is none the first line.
 */
export function locateMissingSpec(
  path: string,
  problems: readonly { readonly line: number }[],
): string {
  return `${path}:${problems[0]?.line ?? 1}`;
}

export function missingSpecError(id: string, where: string): MusterError {
  return new MusterError(
    'INTERNAL_ERROR',
    `task ${id} cannot go on: its specification is missing or damaged in ${where}`,
  );
}

/** The one id that begins so; a whole id stands for itself even if others begin with it. */
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
