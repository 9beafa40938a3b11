import type { PermissionRule } from '../../protocol/permission.ts';
import { parseCommandPattern, parseSingleCommand, splitAtBlanks } from './command-pattern.ts';
import type { CommandPattern } from './command-pattern.ts';
import { removeNeutralOptions } from '../shell/options/subcommand-position.ts';
import { findInnerRuns } from '../shell/inner-commands/find-inner-runs.ts';
import type { InnerRun } from '../shell/inner-commands/inner-run.ts';
import type { ShellParser, ShellWord, SimpleCommand } from '../shell/parsed-line.ts';
import { matchesWildcard } from './wildcard.ts';

/** No honest line has so many commands inside of each other. */
const MAX_DEPTH = 30;

/**
 * Finds the allow rules that cover single commands. A rule covers a command without what that is told to run: this
 * has to be covered as a command of its own, or be named by the words of the rule.
 */
export class CoveringRules {
  private readonly rules: readonly PermissionRule[];
  private readonly parser: ShellParser;
  private readonly found = new Map<SimpleCommand, PermissionRule | undefined>();
  private readonly runs = new Map<SimpleCommand, readonly InnerRun[]>();
  private readonly plain = new Map<SimpleCommand, SimpleCommand | undefined>();

  constructor(rules: readonly PermissionRule[], parser: ShellParser) {
    this.rules = rules;
    this.parser = parser;
  }

  /** The first rule that covers a command. */
  find(command: SimpleCommand, depth = 0): PermissionRule | undefined {
    if (depth > MAX_DEPTH) return undefined;
    return known(this.found, command, () =>
      this.rules.find(({ specifier = '*' }) => this.covers(specifier, command, depth)),
    );
  }

  /** Options before the subcommand count for nothing where they leave its effect as it is. */
  private covers(specifier: string, command: SimpleCommand, depth: number): boolean {
    const [program] = command.words;
    if (program === undefined || program.value === null || command.hasAssignments) return false;
    const pattern = parseCommandPattern(specifier);
    const plain = known(this.plain, command, () => removeNeutralOptions(command));
    return [command, ...(plain === undefined ? [] : [plain])].some(
      (each) =>
        isMeant(pattern, each, this.parser) &&
        this.coversRuns(each, { named: namedWords(pattern, each), depth }),
    );
  }

  private coversRuns(
    command: SimpleCommand,
    rule: { readonly named: number; readonly depth: number },
  ): boolean {
    const { named, depth } = rule;
    if (named === Number.POSITIVE_INFINITY) return true;
    const runs = known(this.runs, command, () => findInnerRuns(command, this.parser));
    return runs.every((run) => {
      if (named > run.index) return this.coversNamed(run, rule);
      return (
        run.visible === 'all' &&
        run.commands.every((each) => this.find(each, depth + 1) !== undefined)
      );
    });
  }

  /** A rule that names the program of a wrapped command does not cover what that is told to run in turn. */
  private coversNamed(
    { tail, commands }: InnerRun,
    { named, depth }: { readonly named: number; readonly depth: number },
  ): boolean {
    if (tail === undefined) return true;
    if (depth > MAX_DEPTH) return false;
    const rule = { named: named - tail, depth: depth + 1 };
    return commands.every((each) => this.coversRuns(each, rule));
  }
}

/** A value that is worked out once for each command: else several rules for each of nested commands would multiply. */
function known<T>(values: Map<SimpleCommand, T>, command: SimpleCommand, workOut: () => T): T {
  const value = values.has(command) ? (values.get(command) as T) : workOut();
  values.set(command, value);
  return value;
}

/** How many words of a command, from the first one on, a rule names. */
function namedWords(pattern: CommandPattern, command: SimpleCommand): number {
  switch (pattern.form) {
    case 'prefix':
      return pattern.words.length;
    case 'glob': {
      const words = splitAtBlanks(pattern.glob);
      // The command itself, in which a star is a plain character.
      const isCommand = pattern.glob === textOf(command);
      const isPlain = command.words.every(({ value }) => value !== null) && !command.isOpenEnded;
      if (isCommand && isPlain) return Number.POSITIVE_INFINITY;
      return words.findIndex((word) => word.includes('*'));
    }
    case 'exact':
      return Number.POSITIVE_INFINITY;
  }
}

function isMeant(pattern: CommandPattern, command: SimpleCommand, parser: ShellParser): boolean {
  switch (pattern.form) {
    case 'prefix':
      return pattern.words.every((word, index) => isSurely(command.words[index], word));
    case 'glob':
      return matchesWildcard(pattern.glob, textOf(command));
    case 'exact':
      return (
        !command.isOpenEnded && isSameCommand(parseSingleCommand(pattern.text, parser), command)
      );
  }
}

function textOf({ words }: SimpleCommand): string {
  return words.map(({ text }) => text).join(' ');
}

function isSurely(word: ShellWord | undefined, expected: string): boolean {
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
