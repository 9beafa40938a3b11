import type { PermissionRule } from '../../protocol/permission.ts';
import {
  couldMatchWords,
  findSubcommandPositions,
  removeNeutralOptions,
} from '../shell/options/subcommand-position.ts';
import {
  parseCommandPattern,
  collapseBlanks,
  parseSingleCommand,
  splitAtBlanks,
} from './command-pattern.ts';
import type { CommandPattern } from './command-pattern.ts';
import { CoveringRules } from './covering-rules.ts';
import { coversWholeTool } from './tool-cover.ts';
import { findDoubt } from '../shell/parsed-line.ts';
import type { ShellParser, ParsedShellLine, SimpleCommand } from '../shell/parsed-line.ts';
import { listInnerCommands } from '../shell/inner-commands/inner-commands.ts';
import { getProgramName } from '../shell/inner-commands/find-inner-runs.ts';
import { matchesWildcard } from './wildcard.ts';

/** A command line with what the grammar made of it; null: no grammar was at hand. */
export interface CommandLine {
  readonly line: string;
  readonly parsed: { readonly parser: ShellParser; readonly reading: ParsedShellLine } | null;
}

export function parseCommandLine(line: string, parser: ShellParser | null): CommandLine {
  return { line, parsed: parser === null ? null : { parser, reading: parser(line) } };
}

/**
 * The rule by which a line may run, if every simple command of it is matched by some rule; of several,
 * the one for the first command. Commands that those are told to run count, too. What is not fully understood is not matched, but for a rule that is
 * the very line, letter by letter.
 */
export function findAllowingCommandRule(
  rules: readonly PermissionRule[],
  { line, parsed }: CommandLine,
): PermissionRule | undefined {
  const whole = rules.find(coversWholeTool);
  if (whole !== undefined) return whole;
  if (parsed === null || parsed.reading.errors.length > 0) return undefined;
  const { parser, reading } = parsed;
  const literal = rules.find((rule) => isLiterally(rule, line));
  if (literal !== undefined) return literal;
  if (findDoubt(reading) !== undefined) return undefined;
  const covering = new CoveringRules(rules, parser);
  const found = reading.commands.map((command) => covering.find(command));
  return found.includes(undefined) ? undefined : found[0];
}

function isLiterally(rule: PermissionRule, line: string): boolean {
  return rule.specifier === line.trim() && parseCommandPattern(rule.specifier).form === 'exact';
}

/**
 * A line that is one plain command, without the options before its subcommand that leave its effect as it is;
 * undefined where there are none.
 */
export function removeNeutralOptionsFromLine({ line, parsed }: CommandLine): string | undefined {
  const command = parsed === null ? undefined : parseSingleCommand(line, parsed.parser);
  const plain = command === undefined ? undefined : removeNeutralOptions(command);
  return plain?.words.map(({ text }) => text).join(' ');
}

/**
 * Whether any command that a line would run could be the one that a specifier names, behind wrappers
 * and in `bash -c` too. Whatever is not understood could be.
 */
export function couldCommandMatch(specifier: string, { line, parsed }: CommandLine): boolean {
  const pattern = parseCommandPattern(specifier);
  if (parsed === null || parsed.reading.errors.length > 0) return true;
  if (pattern.form === 'glob' && matchesWildcard(pattern.glob, line.trim())) return true;
  if (pattern.form === 'exact' && collapseBlanks(pattern.text) === collapseBlanks(line))
    return true;
  const { parser, reading } = parsed;
  return reading.commands.some((command) => {
    const { commands, isIncomplete } = listInnerCommands(command, parser);
    return isIncomplete || [command, ...commands].some((each) => couldBe(pattern, each, parser));
  });
}

/** Characters of all ways to read a command. With more of them, every glob for its program could match it. */
const MAX_READ = 1_000_000;

function couldBe(pattern: CommandPattern, command: SimpleCommand, parser: ShellParser): boolean {
  const [program, ...rest] = command.words;
  if (program === undefined) return false;
  if (program.value === null) return true;
  const name = getProgramName(program.value);
  const called = [program.value, name];
  if (pattern.form === 'glob') {
    const places = findSubcommandPositions(name, rest).filter((place) => place < rest.length);
    const { glob } = pattern;
    const named = called.filter((each) => matchesWildcard(glob, each, { openEnded: true }));
    const length = rest.reduce((sum, { text }) => sum + text.length, 0);
    if (named.length > 0 && places.length * length > MAX_READ) return true;
    const readings = [0, ...places].map((place) => rest.slice(place).map(({ value }) => value));
    return named.some((each) =>
      readings.some((words) => globCouldMatch(glob, [each, ...words], command)),
    );
  }
  const isWhole = pattern.form === 'exact';
  const [expected, ...words] = isWhole ? exactWords(pattern.text, parser) : pattern.words;
  if (expected === undefined || !called.includes(expected)) return false;
  return couldMatchWords(name, { ...command, words: rest }, { words, isComplete: isWhole });
}

function exactWords(text: string, parser: ShellParser): readonly string[] {
  const words = parseSingleCommand(text, parser)?.words;
  return words === undefined ? splitAtBlanks(text) : words.map((word) => word.value ?? word.text);
}

function globCouldMatch(
  glob: string,
  words: readonly (string | null)[],
  { isOpenEnded }: SimpleCommand,
): boolean {
  const unknown = words.indexOf(null);
  const known = unknown < 0 ? words : words.slice(0, unknown);
  return matchesWildcard(glob, known.join(' '), { openEnded: isOpenEnded || unknown >= 0 });
}
