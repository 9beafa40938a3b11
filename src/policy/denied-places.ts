import { join } from 'node:path/posix';
import type { CallLimit, PermissionRule, Rights } from '../protocol/permission.ts';
import type { DeniedPaths } from '../sys/sandbox/sandbox.ts';
import { isLimited } from './call-limits.ts';
import { namedPlaces } from './path-pattern.ts';
import { printRule } from './rules.ts';
import { isWholeTool } from './tool-cover.ts';

/** Whose path rules keep a file from being seen, and from being changed. */
const SEEING: ReadonlySet<string> = new Set([
  'Read',
  'LS',
  'Glob',
  'Grep',
  'FileInfo',
  'FindPlaces',
]);
const CHANGING: ReadonlySet<string> = new Set([
  'Edit',
  'Write',
  'MultiEdit',
  'MoveFile',
  'DeleteFile',
]);
/** Denied as a whole, the task is to change no file. */
const ALL_CHANGES: ReadonlySet<string> = new Set(['Edit', 'Write']);

/**
 * What the rules say of places on the disk, for commands, of which nobody knows what they will open.
 * Ask rules count as deny rules do: whoever let the command run was not asked about these paths. A
 * pattern with a wildcard names no place, but for one at its end that means all that lies in a
 * directory. Read denied as a whole hides nothing, since then no program could run.
 *
 * @param answered the ask rule that a person was asked by, and let the command run all the same
 */
export function deniedPlaces(
  { rules, roots, callLimits = [] }: Pick<Rights, 'rules' | 'roots' | 'callLimits'>,
  { home, answered }: { readonly home: string; readonly answered?: PermissionRule | undefined },
): DeniedPaths {
  const settled = answered === undefined ? undefined : printRule(answered);
  const unanswered = rules.ask.filter((rule) => printRule(rule) !== settled);
  const narrowing = [...rules.deny, ...unanswered].filter((rule) => !isWholeTool(rule));
  const placesOf = (tools: ReadonlySet<string>): readonly string[] =>
    narrowing
      .filter(({ tool }) => tools.has(tool))
      .flatMap(({ specifier = '' }) => namedPlaces(specifier, { roots, home }));
  const readOnly = [
    ...(mayChangeNothing({ rules, callLimits }) ? roots : []),
    ...placesOf(CHANGING),
  ];
  // Without the whole disk, or a whole root, no command could do anything.
  const hidden = placesOf(SEEING).filter((place) => place !== '/' && !roots.includes(place));
  return { hidden: sortedSet(hidden), readOnly: sortedSet(readOnly) };
}

/** Whether commands are to change no file at all, by the rules or by the limits of an agent. */
export function mayChangeNothing({
  rules,
  callLimits = [],
}: Pick<Rights, 'rules' | 'callLimits'>): boolean {
  return rules.deny.some(deniesAllChanges) || callLimits.some(limitsChanges);
}

function deniesAllChanges(rule: PermissionRule): boolean {
  return isWholeTool(rule) && ALL_CHANGES.has(rule.tool);
}

/** The changes of a command cannot be limited to some paths, so a command changes nothing if a list without commands limits changes. */
function limitsChanges(limit: CallLimit): boolean {
  const grantsCommands = [...limit.tools, ...limit.unlimited].includes('Bash');
  return !grantsCommands && isLimited(limit, 'Write');
}

function sortedSet(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => join(path)))].toSorted();
}
