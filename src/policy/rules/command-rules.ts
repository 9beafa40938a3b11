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
import { SUBCOMMAND_PROGRAMS } from '../shell/options/subcommand-programs.ts';
import { coversWholeTool } from './tool-cover.ts';
import { findDoubt } from '../shell/parsed-line.ts';
import type { ShellParser, ParsedShellLine, SimpleCommand } from '../shell/parsed-line.ts';
import { listInnerCommands, getProgramName } from '../shell/inner-commands/inner-commands.ts';
import { matchesWildcard } from '../../base/wildcard.ts';

/** A command line, parsed if the parser is loaded. */
export interface CommandLine {
  readonly line: string;
  /** The parsed line, or null if the parser is not loaded. */
  readonly parsed: { readonly parser: ShellParser; readonly reading: ParsedShellLine } | null;
}

export function readCommandLine(line: string, parser: ShellParser | null): CommandLine {
  return { line, parsed: parser === null ? null : { parser, reading: parser(line) } };
}

/**
 * Finds the rule that allows a command line: some rule must match each simple command of the line, and each command
 * that these run in turn. If several rules are involved, returns the rule for the first command. A line that is not
 * fully understood is matched only by a rule with exactly the same text.
 */
export function findAllowingCommandRule(
  rules: readonly PermissionRule[],
  { line, parsed }: CommandLine,
): PermissionRule | undefined {
  const toolRule = rules.find(coversWholeTool);
  if (toolRule !== undefined) return toolRule;
  if (parsed === null || parsed.reading.errors.length > 0) return undefined;
  const { parser, reading } = parsed;
  const same = rules.find((rule) => isSameText(rule, line));
  if (same !== undefined) return same;
  if (findDoubt(reading) !== undefined) return undefined;
  const covering = new CoveringRules(rules, parser);
  const found = reading.commands.map((command) => covering.find(command));
  return found.includes(undefined) ? undefined : found[0];
}

function isSameText(rule: PermissionRule, line: string): boolean {
  return rule.specifier === line.trim() && parseCommandPattern(rule.specifier).form === 'exact';
}

/**
 * Lists the texts of the commands of a line that no rule covers, without neutral options before their subcommands.
 * Returns an empty list if the line is not fully understood.
 */
export function listUncoveredCommands(
  rules: readonly PermissionRule[],
  { parsed }: CommandLine,
): readonly string[] {
  if (parsed === null || findDoubt(parsed.reading) !== undefined) return [];
  const covering = new CoveringRules(rules, parsed.parser);
  return parsed.reading.commands.flatMap((command) => {
    if (covering.find(command) !== undefined) return [];
    const { words } = removeNeutralOptions(command) ?? command;
    return [words.map(({ text }) => text).join(' ')];
  });
}

/**
 * Lists the programs of a line with their subcommands, sorted, such as `npm test`. Returns an empty list if the line
 * is not fully understood or a program has no certain name.
 */
export function listPrograms({ parsed }: CommandLine): readonly string[] {
  if (parsed === null || findDoubt(parsed.reading) !== undefined) return [];
  const programs = parsed.reading.commands.map(findProgram);
  return programs.includes(null)
    ? []
    : programs.flatMap((each) => each ?? []).toSorted((a, b) => (a < b ? -1 : 1));
}

/** Returns a program with its subcommand, if it has one; null if one of the two is not certain. */
function findProgram({ words: [program, ...rest], hasAssignments }: SimpleCommand): string | null {
  if (program === undefined || program.value === null || hasAssignments) return null;
  const name = getProgramName(program.value);
  if (!SUBCOMMAND_PROGRAMS.has(name)) return name;
  const [position = 0, ...others] = findSubcommandPositions(name, rest).filter(
    (each) => rest[each]?.value?.startsWith('-') !== true,
  );
  const subcommand = rest[position];
  if (subcommand === undefined) return name;
  return others.length > 0 || subcommand.value === null ? null : `${name} ${subcommand.value}`;
}

/**
 * Removes the neutral options before the subcommand from a line that is one plain command. Returns undefined if there
 * are no options or some are not neutral.
 */
export function removeNeutralOptionsFromLine({ line, parsed }: CommandLine): string | undefined {
  const command = parsed === null ? undefined : parseSingleCommand(line, parsed.parser);
  const plain = command === undefined ? undefined : removeNeutralOptions(command);
  return plain?.words.map(({ text }) => text).join(' ');
}

/**
 * Tells whether a specifier could apply to a command that a line would run, including commands behind wrappers and in
 * `bash -c`. For parts of a line that are not understood, the answer is true.
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
    return (
      isIncomplete ||
      [command, ...commands].some((each) => couldPatternMatch(pattern, each, parser))
    );
  });
}

/**
 * The maximum total length of all possible readings of a command. Beyond it, every glob for the program counts as a
 * match.
 */
const MAX_READING_LENGTH = 1_000_000;

function couldPatternMatch(
  pattern: CommandPattern,
  command: SimpleCommand,
  parser: ShellParser,
): boolean {
  const [program, ...rest] = command.words;
  if (program === undefined) return false;
  if (program.value === null) return true;
  const name = getProgramName(program.value);
  const called = [program.value, name];
  if (pattern.form === 'glob') {
    const positions = findSubcommandPositions(name, rest).filter((each) => each < rest.length);
    const { glob } = pattern;
    const names = called.filter((each) => matchesWildcard(glob, each, { openEnded: true }));
    const length = rest.reduce((sum, { text }) => sum + text.length, 0);
    if (names.length > 0 && positions.length * length > MAX_READING_LENGTH) return true;
    const readings = [0, ...positions].map((position) =>
      rest.slice(position).map(({ value }) => value),
    );
    return names.some((each) =>
      readings.some((words) => couldGlobMatch(glob, [each, ...words], command)),
    );
  }
  const isComplete = pattern.form === 'exact';
  const [expected, ...words] = isComplete ? splitExactPattern(pattern.text, parser) : pattern.words;
  if (expected === undefined || !called.includes(expected)) return false;
  return couldMatchWords(name, { ...command, words: rest }, { words, isComplete });
}

function splitExactPattern(text: string, parser: ShellParser): readonly string[] {
  const words = parseSingleCommand(text, parser)?.words;
  return words === undefined ? splitAtBlanks(text) : words.map((word) => word.value ?? word.text);
}

function couldGlobMatch(
  glob: string,
  words: readonly (string | null)[],
  { isOpenEnded }: SimpleCommand,
): boolean {
  const unknown = words.indexOf(null);
  const known = unknown < 0 ? words : words.slice(0, unknown);
  return matchesWildcard(glob, known.join(' '), { openEnded: isOpenEnded || unknown >= 0 });
}
