import type { PermissionRule } from '../protocol/permission.ts';
import {
  couldNameWords,
  subcommandPlaces,
  withoutSameEffectOptions,
} from './options/subcommand-words.ts';
import { commandPattern, oneBlank, onlyCommand, splitBlanks } from './command-pattern.ts';
import type { CommandPattern } from './command-pattern.ts';
import { CoveringRules } from './covering-rule.ts';
import { isWholeTool } from './tool-cover.ts';
import { doubtOf } from './shell-parser.ts';
import type { ShellParser, ShellReading, SimpleCommand } from './shell-parser.ts';
import { innerCommands } from './runs/inner-commands.ts';
import { programName } from './runs/runs-of.ts';
import { wildcardMatches } from './wildcard.ts';

/** A command line with what the grammar made of it; null: no grammar was at hand. */
export interface ReadCommand {
  readonly line: string;
  readonly shell: { readonly parser: ShellParser; readonly reading: ShellReading } | null;
}

export function readCommand(line: string, parser: ShellParser | null): ReadCommand {
  return { line, shell: parser === null ? null : { parser, reading: parser(line) } };
}

/**
 * The rule by which a line may run, if every simple command of it is matched by some rule; of several,
 * the one for the first command. Commands that those are told to run count, too. What is not fully understood is not matched, but for a rule that is
 * the very line, letter by letter.
 */
export function allowingRule(
  rules: readonly PermissionRule[],
  { line, shell }: ReadCommand,
): PermissionRule | undefined {
  const whole = rules.find(isWholeTool);
  if (whole !== undefined) return whole;
  if (shell === null || shell.reading.errors.length > 0) return undefined;
  const { parser, reading } = shell;
  const literal = rules.find((rule) => isLiterally(rule, line));
  if (literal !== undefined) return literal;
  if (doubtOf(reading) !== undefined) return undefined;
  const covering = new CoveringRules(rules, parser);
  const found = reading.commands.map((command) => covering.find(command));
  return found.includes(undefined) ? undefined : found[0];
}

function isLiterally(rule: PermissionRule, line: string): boolean {
  return rule.specifier === line.trim() && commandPattern(rule.specifier).form === 'exact';
}

/**
 * A line that is one plain command, without the options before its subcommand that leave its effect as it is;
 * undefined where there are none.
 */
export function withoutIdleOptions({ line, shell }: ReadCommand): string | undefined {
  const command = shell === null ? undefined : onlyCommand(line, shell.parser);
  const plain = command === undefined ? undefined : withoutSameEffectOptions(command);
  return plain?.words.map(({ text }) => text).join(' ');
}

/**
 * Whether any command that a line would run could be the one that a specifier names, behind wrappers
 * and in `bash -c` too. Whatever is not understood could be.
 */
export function commandCouldMatch(specifier: string, { line, shell }: ReadCommand): boolean {
  const pattern = commandPattern(specifier);
  if (shell === null || shell.reading.errors.length > 0) return true;
  if (pattern.form === 'glob' && wildcardMatches(pattern.glob, line.trim())) return true;
  if (pattern.form === 'exact' && oneBlank(pattern.text) === oneBlank(line)) return true;
  const { parser, reading } = shell;
  return reading.commands.some((command) => {
    const { commands, unsure } = innerCommands(command, parser);
    return unsure || [command, ...commands].some((each) => couldBe(pattern, each, parser));
  });
}

/** Characters of all ways to read a command. With more of them, every glob for its program could match it. */
const MAX_READ = 1_000_000;

function couldBe(pattern: CommandPattern, command: SimpleCommand, parser: ShellParser): boolean {
  const [program, ...rest] = command.words;
  if (program === undefined) return false;
  if (program.value === null) return true;
  const name = programName(program.value);
  const called = [program.value, name];
  if (pattern.form === 'glob') {
    const places = subcommandPlaces(name, rest).filter((place) => place < rest.length);
    const { glob } = pattern;
    const named = called.filter((each) => wildcardMatches(glob, each, { openEnded: true }));
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
  return couldNameWords(name, { ...command, words: rest }, { words, isWhole });
}

function exactWords(text: string, parser: ShellParser): readonly string[] {
  const words = onlyCommand(text, parser)?.words;
  return words === undefined ? splitBlanks(text) : words.map((word) => word.value ?? word.text);
}

function globCouldMatch(
  glob: string,
  words: readonly (string | null)[],
  { openEnded }: SimpleCommand,
): boolean {
  const unknown = words.indexOf(null);
  const known = unknown < 0 ? words : words.slice(0, unknown);
  return wildcardMatches(glob, known.join(' '), { openEnded: openEnded || unknown >= 0 });
}
