import {
  findAllowingCommandRule,
  couldCommandMatch,
  readCommandLine,
} from '../../../../src/policy/rules/command-rules.ts';
import { printRule } from '../../../../src/policy/rules/rules.ts';
import { parseShellLine } from '../../../../src/policy/shell/parse-line.ts';
import { rules } from '../../support.ts';

/** Whether allow rules with these specifiers let a line run. */
export function allows(line: string, ...specifiers: readonly string[]): boolean {
  const { allow } = rules({
    allow: specifiers.map((specifier) => printRule({ tool: 'Bash', specifier })),
  });
  return findAllowingCommandRule(allow, readCommandLine(line, parseShellLine)) !== undefined;
}

/** Whether a deny or ask rule with this specifier applies to a line. */
export function denies(line: string, specifier: string): boolean {
  return couldCommandMatch(specifier, readCommandLine(line, parseShellLine));
}
