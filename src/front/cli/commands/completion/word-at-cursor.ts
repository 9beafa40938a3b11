import { commandFlags, commandsUnder, findCommand, type Command } from '../../command.ts';
import { promptCommand } from '../prompt.ts';
import { flagSpec, flagValues, type FlagName } from '../../flags.ts';
import { takesPrompt } from '../../parse.ts';
import { findFlag, scanArguments, type Scan } from '../../scan.ts';
import type { CompletionValues } from '../../completion-values.ts';

/** The last word of a command line that is still being typed. */
export interface WordAtCursor {
  /** The part that stays, such as `--model=`. */
  readonly prefix: string;
  /** The part that is completed. */
  readonly typed: string;
  readonly wanted: Wanted;
  /** The words before it. */
  readonly scan: Scan;
}

type Wanted =
  | { readonly kind: 'value'; readonly source: CompletionValues }
  /** The next word of a command that begins with these. */
  | { readonly kind: 'command word'; readonly after: readonly string[] }
  | { readonly kind: 'flag'; readonly command: Command; readonly flags: readonly FlagName[] };

/** `words` are those behind the program's name up to the cursor; the last one may be empty. */
export function wordAtCursor(words: readonly string[], commands: readonly Command[]): WordAtCursor {
  const typed = words.at(-1) ?? '';
  const scan = scanArguments(words.slice(0, -1));
  const complete = (wanted: Wanted): WordAtCursor => ({ prefix: '', typed, wanted, scan });
  if (scan.unknown !== undefined) return complete(value({}));
  const found = scan.flags.has('print') ? undefined : findCommand(commands, scan.words);
  const command = found?.command ?? promptCommand;
  if (scan.incomplete !== undefined) return complete(flagValue(scan.incomplete, command));
  if (typed.startsWith('-') && scan.flagsEnded !== true) {
    const equals = typed.startsWith('--') ? typed.indexOf('=') : -1;
    if (equals === -1) {
      // After `tasks` there is no command yet, and no prompt either.
      const isPart =
        found === undefined && !scan.flags.has('print') && isCommandPart(scan, commands);
      return complete({ kind: 'flag', command, flags: isPart ? ['help'] : commandFlags(command) });
    }
    const prefix = typed.slice(0, equals + 1);
    const wanted = flagValue(typed.slice(0, equals), command);
    return { prefix, typed: typed.slice(equals + 1), wanted, scan };
  }
  if (found === undefined) {
    const isPrompt = takesPrompt(scan);
    return complete(isPrompt ? value({}) : { kind: 'command word', after: scan.words });
  }
  const { operands } = found;
  if (command.words === 'help') return complete({ kind: 'command word', after: operands });
  return complete(value(operandValues(command, operands.length, scan)));
}

function isCommandPart({ words }: Scan, commands: readonly Command[]): boolean {
  return words.length > 0 && commandsUnder(commands, words).length > 0;
}

function value(source: CompletionValues): Wanted {
  return { kind: 'value', source };
}

function flagValue(spelling: string, command: Command): Wanted {
  const name = findFlag(spelling);
  if (name === undefined) return value({});
  return value(flagValues({ ...flagSpec(name), ...command.flagDetails?.[name] }) ?? {});
}

/** Returns the values of an operand, counted from 0; the last operand may be repeated. */
function operandValues({ operands }: Command, index: number, { flags }: Scan): CompletionValues {
  const last = operands.at(-1);
  const operand = operands[index] ?? (last?.name.includes('…') === true ? last : undefined);
  const special = Object.entries(operand?.completesWith ?? {}).find(([name]) =>
    [...flags.keys()].some((given) => given === name),
  );
  return special?.[1] ?? operand?.completes ?? {};
}
