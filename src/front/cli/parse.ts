import { UsageError } from '../../base/errors.ts';
import {
  commandFlags,
  commandsUnder,
  findCommand,
  type Command,
  type LoadCommands,
} from './command.ts';
import { helpCommand } from './commands/help.ts';
import { promptCommand } from './commands/prompt.ts';
import { FlagReader } from './flag-reader.ts';
import { scanArguments, type Scan } from './scan.ts';
import { escapeLine, quoteValue } from '../../config/message-text.ts';
import { sortByNearness, suggestNames } from '../../base/name-suggestions.ts';
import { isFlagName, type FlagName } from './flags.ts';

/** The command that a command line starts. */
export interface ParsedCommand {
  readonly command: Command;
  readonly options: unknown;
}

/**
 * Finds the command that the arguments (without the program's name) call, and parses its options. Returns `version`
 * for `--version`. Calls `load` only if the words can be the words of a command.
 * @throws UsageError of one line that names the argument and what is valid.
 */
export async function parseCommandLine(
  argv: readonly string[],
  load: LoadCommands,
): Promise<ParsedCommand | 'version'> {
  const scan = scanArguments(argv);
  const flags = new FlagReader(scan.flags);
  // With -p, all words belong to the prompt.
  const commands = scan.words.length === 0 || flags.has('print') ? [] : await load();
  const { command, operands } = findCommand(commands, scan.words) ?? {
    command: promptCommand,
    operands: scan.words,
  };
  if (scan.unknown !== undefined) throw unknownFlag(command, operands, scan.unknown);
  if (scan.incomplete !== undefined) {
    throw new UsageError(`${escapeLine(scan.incomplete)} needs a value`);
  }
  if (flags.has('help')) return parseHelp(flags.has('print') ? [] : scan.words, commands);
  checkFlags(command, operands, scan.flags.keys());
  if (flags.has('version')) return 'version';
  if (command === helpCommand) return parseHelp(operands, commands);
  if (command !== promptCommand) checkOperands(command, operands);
  else if (operands.length > 0 && !takesPrompt(scan)) throw unknownCommand(operands, commands);
  return {
    command,
    options: command.parse({ operands, flags, flagsEnded: scan.flagsEnded === true }),
  };
}

/** Whether words that start no command are a prompt: a flag says so, or they are one quoted text with several words. */
export function takesPrompt({ flags, words }: Pick<Scan, 'flags' | 'words'>): boolean {
  const isQuoted = words.length === 1 && /\S\s+\S/.test(words[0] ?? '');
  return isQuoted || flags.has('print') || flags.has('continue') || flags.has('resume');
}

function parseHelp(words: readonly string[], commands: readonly Command[]): ParsedCommand {
  const isKnown = words.length === 0 || findCommand(commands, words) !== undefined;
  if (!isKnown && commandsUnder(commands, words).length === 0) {
    throw unknownCommand(words, commands);
  }
  return { command: helpCommand, options: { words } };
}

/** Throws unless every given flag belongs to the command. */
function checkFlags(
  command: Command,
  operands: readonly string[],
  given: Iterable<FlagName>,
): void {
  for (const name of given) {
    if (commandFlags(command).includes(name)) continue;
    const hint = suggestInstead(command, operands, `--${name}`);
    throw new UsageError(`--${name} does not go with ${title(command.words)}; ${hint}`);
  }
}

/** Says what to write instead of a flag that a command does not have. */
function suggestInstead(command: Command, operands: readonly string[], flag: string): string {
  return command.explainFlag?.(flag, operands) ?? validFlags(commandFlags(command), flag);
}

/** Throws unless the number of operands is one that the command takes. */
function checkOperands({ words, operands }: Command, given: readonly string[]): void {
  const names = operands.map(({ name }) => name);
  const missing = names.filter((name) => !name.startsWith('['))[given.length];
  if (missing !== undefined) {
    throw new UsageError(`${title(words)} needs ${missing}: ${title(words)} ${names.join(' ')}`);
  }
  const extra = given[names.length];
  if (extra !== undefined && !/…\]?$/.test(names.at(-1) ?? '')) {
    throw new UsageError(
      `${title(words)} does not take ${quoteValue(extra)}; see ${title(words)} --help`,
    );
  }
}

/** Returns the error for an argument that begins with a dash and is no flag. */
function unknownFlag(command: Command, operands: readonly string[], argument: string): UsageError {
  if (/\s/.test(argument)) {
    return new UsageError(
      `${quoteValue(argument)} is taken for a flag; a prompt that begins with a dash goes after --: muster -p -- "- …"`,
    );
  }
  const [flag = argument] = argument.split('=', 1);
  if (flag !== argument && flag.startsWith('--') && isFlagName(flag.slice(2))) {
    return new UsageError(`${flag} takes no value`);
  }
  return new UsageError(
    `unknown flag ${escapeLine(flag)}; ${suggestInstead(command, operands, flag)}`,
  );
}

/** Returns the error for words that call no command and are no prompt, because no flag such as -p says so. */
function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const [first = '', ...rest] = words;
  const named = quoteValue(words.join(' '));
  const under = commandsUnder(commands, [first]).map((each) => each.words);
  if (under.length === 0) {
    const names = [
      ...commands.map((each) => each.words),
      ...PROMPT_FLAGS.map((flag) => `--${flag}`),
    ];
    const [near] = suggestNames(
      words.join(' '),
      names.map((name) => name.replace(/^--/, '')),
    );
    const meant = names.find((name) => name.replace(/^--/, '') === near);
    const suggestion = meant === undefined ? '' : ` did you mean muster ${meant}?`;
    return new UsageError(
      `unknown command ${named};${suggestion} muster help lists all. A prompt of several words needs quotes, and one word needs -p: muster -p ${named}`,
    );
  }
  if (rest.length === 0) {
    return new UsageError(`${named} is not a command by itself; valid: ${under.join(', ')}`);
  }
  const seconds = under.map((each) => each.slice(first.length + 1));
  const [near] = suggestNames(rest.join(' '), seconds);
  const suggestion = near === undefined ? ';' : `; did you mean ${first} ${near}?`;
  return new UsageError(`${named} is not a command${suggestion} valid: ${under.join(', ')}`);
}

/** The flags that continue a conversation, which look like commands to a user who does not know them. */
const PROMPT_FLAGS = ['continue', 'resume', 'version'] as const;

/** The number of flags that an error names. */
const MAX_NAMED_FLAGS = 6;

function validFlags(valid: readonly FlagName[], flag: string): string {
  const names = sortByNearness(
    flag.startsWith('--') ? flag : `--${flag}`,
    valid.map((name) => `--${name}`),
  );
  const rest = names.length - MAX_NAMED_FLAGS;
  const more = rest > 0 ? `; --help lists ${rest} more` : '';
  return `valid, nearest first: ${names.slice(0, MAX_NAMED_FLAGS).join(', ')}${more}`;
}

function title(words: string): string {
  return words === '' ? 'muster -p' : `muster ${words}`;
}
