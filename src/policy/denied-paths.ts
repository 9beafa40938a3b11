import { join } from 'node:path/posix';
import type { CallLimit, PermissionRule, Rights } from '../protocol/permission.ts';
import { FILE_CHANGING_TOOLS, FILE_READING_TOOLS } from '../protocol/file-tools.ts';
import { isToolLimited } from './call-limits.ts';
import { listNamedPaths } from './rules/path-pattern.ts';
import { printRule } from './rules/rules.ts';
import { coversWholeTool } from './rules/tool-cover.ts';
import type { DeniedPaths } from '../sys/sandbox/sandbox.ts';

/** Tools for which a deny rule without a specifier means that no file may be changed. */
const ALL_CHANGES: ReadonlySet<string> = new Set(['Edit', 'Write']);

/**
 * Finds the paths that the sandbox has to hide from commands or make read-only, because it is not known in advance
 * which files a command opens. Ask rules count like deny rules: the person who allowed the command was not asked about
 * these paths. Patterns with wildcards are ignored, except for a wildcard at the end that stands for everything in a
 * directory. A deny rule for all of Read hides nothing, because otherwise no program could run.
 *
 * @param options.answered the ask rule that caused the question to which a person said yes
 */
export function findDeniedPaths(
  {
    rules,
    roots,
    callLimits = [],
    workspace,
  }: Pick<Rights, 'rules' | 'roots' | 'callLimits' | 'workspace'>,
  { home, answered }: { readonly home: string; readonly answered?: PermissionRule | undefined },
): DeniedPaths {
  const answeredText = answered === undefined ? undefined : printRule(answered);
  const unanswered = rules.ask.filter((rule) => printRule(rule) !== answeredText);
  const pathRules = [...rules.deny, ...unanswered].filter((rule) => !coversWholeTool(rule));
  const listPathsOf = (tools: readonly string[]): readonly string[] =>
    pathRules
      .filter(({ tool }) => tools.includes(tool))
      .flatMap(({ specifier = '' }) => listNamedPaths(specifier, { roots, home, workspace }));
  const readOnly = [
    ...(forbidsAllChanges({ rules, callLimits }) ? roots : []),
    ...listPathsOf(FILE_CHANGING_TOOLS),
  ];
  // `/` and roots are not hidden, because without them no command could do anything.
  const hidden = listPathsOf(FILE_READING_TOOLS).filter(
    (path) => path !== '/' && !roots.includes(path),
  );
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

/**
 * Tells whether a limit forbids commands to change files: it limits Write and does not list Bash. Commands cannot be
 * limited to certain paths, so they may change nothing.
 */
function limitsChanges(limit: CallLimit): boolean {
  const grantsCommands = [...limit.tools, ...limit.unlimited].includes('Bash');
  return !grantsCommands && isToolLimited(limit, 'Write');
}

function sortPaths(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => join(path)))].toSorted();
}
