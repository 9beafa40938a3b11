import type { PermissionRule } from '../../protocol/permission.ts';
import { parseCommandPattern, parseSingleCommand, splitAtBlanks } from './command-pattern.ts';
import type { CommandPattern } from './command-pattern.ts';
import { removeNeutralOptions } from '../shell/options/subcommand-position.ts';
import { findInnerRuns, runFedInput } from '../shell/inner-commands/inner-commands.ts';
import type { InnerRun } from '../shell/inner-commands/inner-run.ts';
import type { ShellParser, ShellWord, SimpleCommand } from '../shell/parsed-line.ts';
import { matchesWildcard } from '../../base/wildcard.ts';

/**
 * The maximum nesting of commands. No real command line nests them more deeply, and deeper commands are not covered.
 */
const MAX_DEPTH = 30;

/**
 * Finds the allow rules that cover single commands. A rule covers a command, but not the commands that this command
 * runs in turn: they must be covered by rules of their own, or the words of the rule must name them.
 */
export class CoveringRules {
  private readonly rules: readonly PermissionRule[];
  private readonly parser: ShellParser;
  /** The results of `find`, by command. */
  private readonly found = new Map<SimpleCommand, PermissionRule | undefined>();
  /** The commands that each command runs in turn. */
  private readonly runs = new Map<SimpleCommand, readonly InnerRun[]>();
  /** Each command without neutral options; undefined if there are none. */
  private readonly plain = new Map<SimpleCommand, SimpleCommand | undefined>();

  constructor(rules: readonly PermissionRule[], parser: ShellParser) {
    this.rules = rules;
    this.parser = parser;
  }

  /** Finds the first rule that covers a command. */
  find(command: SimpleCommand, depth = 0): PermissionRule | undefined {
    if (depth > MAX_DEPTH) return undefined;
    return computeOnce(this.found, command, () =>
      this.rules.find(({ specifier = '*' }) => this.covers(specifier, command, depth)),
    );
  }

  /** Tells whether a specifier covers a command, also if neutral options before the subcommand are ignored. */
  private covers(specifier: string, command: SimpleCommand, depth: number): boolean {
    const [program] = command.words;
    if (program === undefined || program.value === null || command.hasAssignments) return false;
    const pattern = parseCommandPattern(specifier);
    const plain = computeOnce(this.plain, command, () => removeNeutralOptions(command));
    return [command, ...(plain === undefined ? [] : [plain])].some(
      (each) =>
        matchesPattern(pattern, each, this.parser) &&
        this.coversRuns(each, { named: countNamedWords(pattern, each), depth }),
    );
  }

  /**
   * Tells whether the commands that a command runs in turn are covered. `named` is the number of words of the command,
   * from the program on, that the rule names.
   */
  private coversRuns(
    command: SimpleCommand,
    rule: { readonly named: number; readonly depth: number },
  ): boolean {
    const { named, depth } = rule;
    const runs = computeOnce(this.runs, command, () => findInnerRuns(command, this.parser));
    return runs.every((run) => {
      if (named > run.index) return this.coversNamed(run, rule);
      return (
        run.visible === 'all' &&
        run.commands.every((each) => this.find(each, depth + 1) !== undefined)
      );
    });
  }

  /**
   * Tells whether a rule that names the word which causes a run covers the run. If the rule names the program of a wrapped
   * command, the commands that this program runs in turn must be covered, too. Nothing covers a text that the line feeds
   * to a program which runs it.
   */
  private coversNamed(
    { tail, commands }: InnerRun,
    { named, depth }: { readonly named: number; readonly depth: number },
  ): boolean {
    if (tail === undefined) return !runFedInput(commands, this.parser);
    if (depth > MAX_DEPTH) return false;
    const rule = { named: named - tail, depth: depth + 1 };
    return commands.every((each) => this.coversRuns(each, rule));
  }
}

/** Computes a value once for each command. Otherwise nested commands and several rules would multiply the work. */
function computeOnce<T>(
  values: Map<SimpleCommand, T>,
  command: SimpleCommand,
  compute: () => T,
): T {
  const value = values.has(command) ? (values.get(command) as T) : compute();
  values.set(command, value);
  return value;
}

/** Counts the words of a command, from the first one on, that a rule names. */
function countNamedWords(pattern: CommandPattern, command: SimpleCommand): number {
  switch (pattern.form) {
    case 'prefix':
      return pattern.words.length;
    case 'glob': {
      const words = splitAtBlanks(pattern.glob);
      // If the pattern is the text of the command itself, the `*` in it is a plain character.
      const isCommand = pattern.glob === printCommand(command);
      const isPlain = command.words.every(({ value }) => value !== null) && !command.isOpenEnded;
      if (isCommand && isPlain) return Number.POSITIVE_INFINITY;
      return words.findIndex((word) => word.includes('*'));
    }
    case 'exact':
      return Number.POSITIVE_INFINITY;
  }
}

function matchesPattern(
  pattern: CommandPattern,
  command: SimpleCommand,
  parser: ShellParser,
): boolean {
  switch (pattern.form) {
    case 'prefix':
      return pattern.words.every((word, index) => isWord(command.words[index], word));
    case 'glob':
      return matchesWildcard(pattern.glob, printCommand(command));
    case 'exact':
      return (
        !command.isOpenEnded && isSameCommand(parseSingleCommand(pattern.text, parser), command)
      );
  }
}

function printCommand({ words }: SimpleCommand): string {
  return words.map(({ text }) => text).join(' ');
}

function isWord(word: ShellWord | undefined, expected: string): boolean {
  return word !== undefined && (word.value === expected || word.text === expected);
}

function isSameCommand(rule: SimpleCommand | undefined, command: SimpleCommand): boolean {
  return (
    rule !== undefined &&
    rule.words.length === command.words.length &&
    rule.words.every((word, index) => {
      const other = command.words[index];
      return other?.text === word.text || (word.value !== null && other?.value === word.value);
    })
  );
}
