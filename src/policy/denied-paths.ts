import { join } from 'node:path/posix';
import type { CallLimit, PermissionRule, Rights } from '../protocol/permission.ts';
import { isToolLimited } from './call-limits.ts';
import { listNamedPaths } from './rules/path-pattern.ts';
import { printRule } from './rules/rules.ts';
import { coversWholeTool } from './rules/tool-cover.ts';
import type { DeniedPaths } from '../sys/sandbox/sandbox.ts';

/** Tools whose path rules keep a file from being seen. */
const READING_TOOLS: ReadonlySet<string> = new Set([
  'Read',
  'LS',
  'Glob',
  'Grep',
  'FileInfo',
  'FindPlaces',
]);
/** Tools whose path rules keep a file from being changed. */
const CHANGING_TOOLS: ReadonlySet<string> = new Set([
  'Edit',
  'Write',
  'MultiEdit',
  'MoveFile',
  'DeleteFile',
]);
/** Tools that, when a deny rule covers them as a whole, mean that no file may be changed. */
const ALL_CHANGES: ReadonlySet<string> = new Set(['Edit', 'Write']);

/**
 * Finds the paths that the sandbox has to hide from commands or make read-only, since nobody knows which files a
 * command will open. Ask rules count like deny rules: the person who allowed the command was not asked about these
 * paths. A pattern with a wildcard names no path, except where the wildcard at its end means everything in a directory.
 * A deny rule for all of Read hides nothing, because then no program could run.
 *
 * @param options.answered the ask rule that caused the question which a person answered with yes
 */
export function findDeniedPaths(
  { rules, roots, callLimits = [] }: Pick<Rights, 'rules' | 'roots' | 'callLimits'>,
  { home, answered }: { readonly home: string; readonly answered?: PermissionRule | undefined },
): DeniedPaths {
  const answeredText = answered === undefined ? undefined : printRule(answered);
  const unanswered = rules.ask.filter((rule) => printRule(rule) !== answeredText);
  const pathRules = [...rules.deny, ...unanswered].filter((rule) => !coversWholeTool(rule));
  const listPathsOf = (tools: ReadonlySet<string>): readonly string[] =>
    pathRules
      .filter(({ tool }) => tools.has(tool))
      .flatMap(({ specifier = '' }) => listNamedPaths(specifier, { roots, home }));
  const readOnly = [
    ...(forbidsAllChanges({ rules, callLimits }) ? roots : []),
    ...listPathsOf(CHANGING_TOOLS),
  ];
  // Without the whole disk, or a whole root, no command could do anything.
  const hidden = listPathsOf(READING_TOOLS).filter((path) => path !== '/' && !roots.includes(path));
  return { hidden: sortPaths(hidden), readOnly: sortPaths(readOnly) };
}

/** Tells whether deny rules or the limits of an agent forbid commands to change any file. */
export function forbidsAllChanges({
  rules,
  callLimits = [],
}: Pick<Rights, 'rules' | 'callLimits'>): boolean {
  return rules.deny.some(deniesAllChanges) || callLimits.some(limitsChanges);
}

function deniesAllChanges(rule: PermissionRule): boolean {
  return coversWholeTool(rule) && ALL_CHANGES.has(rule.tool);
}

/** The changes of a command cannot be limited to some paths, so a command changes nothing if a list without commands limits changes. */
function limitsChanges(limit: CallLimit): boolean {
  const grantsCommands = [...limit.tools, ...limit.unlimited].includes('Bash');
  return !grantsCommands && isToolLimited(limit, 'Write');
}

function sortPaths(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => join(path)))].toSorted();
}
