import { allowingRule, commandCouldMatch, readCommand } from '../../../src/policy/command-rules.ts';
import { printRule } from '../../../src/policy/rules.ts';
import { readShell } from '../../../src/policy/shell-grammar.ts';
import { rules } from '../support.ts';

/** Whether allow rules with these specifiers let a line run. */
export function allows(line: string, ...specifiers: readonly string[]): boolean {
  const { allow } = rules({
    allow: specifiers.map((specifier) => printRule({ tool: 'Bash', specifier })),
  });
  return allowingRule(allow, readCommand(line, readShell)) !== undefined;
}

/** Whether a deny or ask rule with this specifier applies to a line. */
export function denies(line: string, specifier: string): boolean {
  return commandCouldMatch(specifier, readCommand(line, readShell));
}
