import { relative } from 'node:path';
import { TEXT_EDITING_TOOLS } from '../protocol/file-tools.ts';
import type { Decision, DecisionStep, Rights } from '../protocol/permission.ts';
import { findSpecifierKind } from '../protocol/specifier-kind.ts';
import { isInside } from '../base/path-inside.ts';
import { listPaths, type CallPath, type ResolvedCall } from './call.ts';
import type { DecisionInput } from './decision-input.ts';
import { makeAllowRulesAbsolute } from './rules/absolute-rules.ts';
import { listUncoveredCommands, removeNeutralOptionsFromLine } from './rules/command-rules.ts';
import { findAllowingRule } from './rules/match-rules.ts';
import { escapePathPattern } from './rules/path-pattern.ts';
import { parseRule, printRule } from './rules/rules.ts';
import { coversWholeTool, ruleCovers } from './rules/tool-cover.ts';

/** The maximum length of a command for which a rule is suggested, in UTF-16 units. */
const MAX_COMMAND_LENGTH = 300;

/**
 * Suggests the narrowest useful rule that would allow a call: a rule for its command, the directory of its file, or its
 * host. If no such rule would allow the call, suggests a rule for all calls of the tool.
 */
export function suggestRule(input: DecisionInput): string {
  const candidates = [suggestPlainCommand(input), suggestNarrowRule(input)];
  const suggested = candidates.find((rule) => rule !== undefined && wouldAllow(rule, input));
  return suggested ?? printRule({ tool: input.call.tool });
}

function wouldAllow(text: string, { call, context, subject }: DecisionInput): boolean {
  const parsed = parseRule({ text, source: { kind: 'builtin', where: 'suggestion' } });
  if (!parsed.ok) return false;
  if (findSpecifierKind(call.tool) === 'command' && context.shellParser === null) return false;
  return findAllowingRule([parsed.rule], subject) !== undefined;
}

/** Suggests a rule without neutral options: for `git --no-pager push` the rule for `git push`, which covers both. */
function suggestPlainCommand({ call, subject }: DecisionInput): string | undefined {
  const { tool, access } = call;
  const [line = ''] = access.commands;
  if (findSpecifierKind(tool) !== 'command' || line.length > MAX_COMMAND_LENGTH) return undefined;
  const [parsed] = subject.parseCommands();
  const specifier = parsed === undefined ? undefined : removeNeutralOptionsFromLine(parsed);
  return specifier === undefined ? undefined : printRule({ tool, specifier });
}

function suggestNarrowRule({ call, rights }: DecisionInput): string | undefined {
  const { tool, access } = call;
  switch (findSpecifierKind(tool)) {
    case 'command': {
      const line = access.commands[0]?.trim() ?? '';
      return line.length > MAX_COMMAND_LENGTH ? undefined : printRule({ tool, specifier: line });
    }
    case 'path': {
      const specifier = suggestPattern(listPaths(access), rights.roots);
      if (specifier === undefined) return undefined;
      const isEdit = TEXT_EDITING_TOOLS.includes(tool);
      return printRule({ tool: isEdit ? 'Edit' : tool, specifier });
    }
    case 'domain':
      return printRule({ tool, specifier: `domain:${access.hosts[0] ?? ''}` });
    case 'agent':
      return printRule({ tool, specifier: access.agent ?? '' });
    case 'skill':
      return printRule({ tool, specifier: access.skill ?? '' });
    case undefined:
      return undefined;
  }
}

/** Programs whose input from a pipe is only data. Others, such as shells, xargs and ssh, may run it. */
const FILTERS: ReadonlySet<string> = new Set(
  'cat column cut egrep fgrep grep head jq nl rev rg sort tail tr uniq wc'.split(' '),
);

/**
 * Whether a part of a line may get its code or arguments from another part or from a text in the line. A rule for the
 * part alone would then cover any such text.
 */
function feedsProgram(line: string): boolean {
  if (line.includes('<<')) return true;
  const [, ...receivers] = line.split(/(?<!\|)\|(?!\|)&?/);
  return receivers.some((each) => !FILTERS.has(each.trim().split(/\s/, 1)[0] ?? ''));
}

/**
 * Suggests rules for a compound command such as `a && b | c`: one for each command that no allow rule covers yet.
 * Returns an empty list for any other call, if such rules would not allow the line, and if a part may run what it is fed.
 */
export function suggestPartRules(input: DecisionInput): readonly string[] {
  const { call, rights, context, subject } = input;
  const [text = '', ...others] = call.access.commands;
  if (findSpecifierKind(call.tool) !== 'command' || others.length > 0) return [];
  if (feedsProgram(text)) return [];
  const { shellParser } = context;
  const [line] = subject.parseCommands();
  if (shellParser === null || line === undefined) return [];
  const { allow } = rights.rules;
  const covering = allow.filter((rule) => ruleCovers(rule, call.tool, 'widen'));
  const specifiers = listUncoveredCommands(covering, line);
  if (specifiers.length < 2 && (line.parsed?.reading.commands.length ?? 0) < 2) return [];
  if (specifiers.some((each) => each.length > MAX_COMMAND_LENGTH || each.includes('*'))) return [];
  const rules = [...new Set(specifiers)].map((specifier) =>
    printRule({ tool: call.tool, specifier }),
  );
  const parsed = rules.map((text) =>
    parseRule({ text, source: { kind: 'builtin', where: 'suggestion' } }),
  );
  const added = parsed.flatMap((each) => (each.ok ? [each.rule] : []));
  const isEnough =
    added.length === rules.length && findAllowingRule([...allow, ...added], subject) !== undefined;
  return isEnough ? rules : [];
}

/**
 * Suggests a pattern for everything in the directory of the first path, or for the file alone if it lies directly in
 * the working directory.
 */
function suggestPattern(paths: readonly CallPath[], roots: readonly string[]): string | undefined {
  const path = paths[0]?.real;
  const cwd = roots[0];
  if (path === undefined || cwd === undefined) return undefined;
  if (!isInside(cwd, path)) return `/${escapePathPattern(path.slice(0, path.lastIndexOf('/')))}/**`;
  const file = relative(cwd, path);
  const directory = file.slice(0, Math.max(0, file.lastIndexOf('/')));
  return directory === '' ? `./${escapePathPattern(file)}` : `${escapePathPattern(directory)}/**`;
}

/**
 * Suggests the flag for a mode that does not refuse a call which plan mode refuses. Returns undefined for a child,
 * because the flag sets only the mode of the main agent.
 */
export function suggestModeFlag(call: ResolvedCall, rights: Rights): string | undefined {
  if (rights.depth > 0) return undefined;
  return call.kind === 'edit' ? '--permission-mode acceptEdits' : '--permission-mode default';
}

/** Steps that come before the allow rules, so that no allow rule lifts their decisions. */
const STEPS_ABOVE_ALLOW_RULES: ReadonlySet<DecisionStep> = new Set<DecisionStep>([
  'tool_set',
  'deny_rule',
  'floor',
  'ask_rule',
]);

/** The tool of a call and the rights of its task. */
interface CallingRights {
  readonly tool: string;
  readonly rights: Pick<Rights, 'roots'>;
}

/**
 * Chooses the rules that the answer "always" adds: one for each part of a compound command, otherwise the narrowest
 * rule that allows the call, with absolute paths, so that the rule means the same in every task. Returns an empty list
 * if no rule would have an effect, or if the only such rule would allow far more than the call: a rule for all calls of
 * a tool that supports specifiers, or a rule for a command that contains a `*`, which stands for any text in a rule.
 */
export function chooseOfferedRules(
  { step, wouldAllow, wouldAllowParts = [] }: Decision,
  caller: CallingRights,
): readonly string[] {
  if (STEPS_ABOVE_ALLOW_RULES.has(step) || wouldAllow === undefined) return [];
  const wanted = wouldAllowParts.length > 0 ? wouldAllowParts : [wouldAllow];
  const rules = wanted.map((each) => chooseOfferedRule(each, caller));
  return rules.flatMap((rule) => (rule === null || rules.includes(null) ? [] : [rule]));
}

function chooseOfferedRule(wouldAllow: string, { tool, rights }: CallingRights): string | null {
  const source = { kind: 'answer', where: 'an answer' } as const;
  const parsed = parseRule({ text: wouldAllow, source }, [tool]);
  if (!parsed.ok) return null;
  const { rule } = parsed;
  const kind = findSpecifierKind(rule.tool);
  if (coversWholeTool(rule) && kind !== undefined) return null;
  if (kind === 'command' && rule.specifier?.includes('*') === true) return null;
  const [absolute] = makeAllowRulesAbsolute([rule], rights.roots);
  return absolute === undefined ? null : printRule(absolute);
}
