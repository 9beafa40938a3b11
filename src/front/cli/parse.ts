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
import { checkFlags, checkOperands, unknownCommand, unknownFlag } from './usage-errors.ts';
import { escapeLine } from '../../config/message-text.ts';

/** The command that a command line starts. */
export interface ParsedCommand {
  readonly command: Command;
  readonly options: unknown;
}

/**
 * Finds the command that the arguments (without the program's name) start, and parses its options. Returns
 * `version` for `--version`. `load` is called only if words may be those of a command.
 * @throws UsageError of one line that names the argument and what is valid.
 */
export async function parseCommandLine(
  argv: readonly string[],
  load: LoadCommands,
): Promise<ParsedCommand | 'version'> {
  const scan = scanArguments(argv);
  const flags = new FlagReader(scan.flags);
  // After -p, no word is taken for a command.
  const commands = scan.words.length === 0 || flags.has('print') ? [] : await load();
  const { command, operands } = findCommand(commands, scan.words) ?? {
    command: promptCommand,
    operands: scan.words,
  };
  const valid = commandFlags(command);
  if (scan.unknown !== undefined) throw unknownFlag(valid, scan.unknown);
  if (scan.incomplete !== undefined) {
    throw new UsageError(`${escapeLine(scan.incomplete)} needs a value`);
  }
  if (flags.has('help')) return parseHelp(flags.has('print') ? [] : scan.words, commands);
  checkFlags(command.words, valid, scan.flags.keys());
  if (flags.has('version')) return 'version';
  if (command === helpCommand) return parseHelp(operands, commands);
  if (command !== promptCommand) checkOperands(command, operands);
  else if (operands.length > 0 && !takesPrompt(scan)) throw unknownCommand(operands, commands);
  return { command, options: command.parse({ operands, flags }) };
}

/** Whether words that start no command are a prompt. */
export function takesPrompt({ flags }: Scan): boolean {
  return flags.has('print') || flags.has('continue') || flags.has('resume');
}

function parseHelp(words: readonly string[], commands: readonly Command[]): ParsedCommand {
  const isKnown = words.length === 0 || findCommand(commands, words) !== undefined;
  if (!isKnown && commandsUnder(commands, words).length === 0) {
    throw unknownCommand(words, commands);
  }
  return { command: helpCommand, options: { words } };
}
