import { basename, dirname } from 'node:path';
import { convertClaudeRule } from '../config/claude-settings.ts';
import type { ConditionReader } from '../hooks/read-hooks.ts';
import { parseRules } from '../policy/rules/rules.ts';
import type { HookSource } from '../protocol/hook.ts';
import type { RuleSource } from '../protocol/permission.ts';

/**
 * Reads the condition of a hook as a permission rule of the file in which it stands. What of it is not clear makes the hook
 * run more often, and allow less.
 */
export const readHookCondition: ConditionReader = (text, source) => {
  const origin: RuleSource = { kind: 'config', where: source.where };
  const directory = findPatternDirectory(source);
  const read = (list: 'allow' | 'ask') => {
    const rule = { text, source: origin };
    if (directory === null) return { rules: [rule], remark: null };
    const { texts, remark } = convertClaudeRule(rule, list, directory);
    return { rules: texts.map((each) => ({ text: each, source: origin })), remark };
  };
  const [allow, ask] = [read('allow'), read('ask')];
  const { rules, problems } = parseRules({ allow: allow.rules, ask: ask.rules, deny: [] });
  const problem = ask.remark ?? problems[0]?.mistake.replace(/[.;]$/, '') ?? null;
  return { rules: rules.ask, allowing: rules.allow, problem };
};

/** Returns the directory that patterns like `/src/**` are relative to in a file of Claude Code; null for other files. */
function findPatternDirectory({ kind, where }: HookSource): string | null {
  const directory = dirname(where);
  // The user may have moved the directory of Claude Code. Muster's own file has another name.
  if (kind === 'user') return basename(where) === 'settings.json' ? directory : null;
  return kind === 'project' && basename(directory) === '.claude' ? dirname(directory) : null;
}
