import {
  commandSpec,
  commandsUnder,
  findCommand,
  RUN,
  type CommandKind,
} from '../../command-table.ts';
import { FLAG_NAMES, flagSpec, type FlagName } from '../../flags.ts';
import { scanArguments, type Scan } from '../../scan.ts';
import { flagSource, operandSource, type ValueSource } from './sources.ts';

/** What could stand for the last word of a command line. */
export interface Asked {
  /** What the word begins with and keeps, as in `--model=`. */
  readonly kept: string;
  /** What is there of what is asked for. */
  readonly typed: string;
  readonly wanted: Wanted;
  /** The words before it. */
  readonly scan: Scan;
}

type Wanted =
  | { readonly kind: 'value'; readonly source: ValueSource }
  /** The next word of a command that begins with these. */
  | { readonly kind: 'command word'; readonly after: readonly string[] }
  | {
      readonly kind: 'flag';
      readonly command: CommandKind | null;
      readonly flags: readonly FlagName[];
    };

/** `words` are those behind the program's name up to the cursor; the last one may be empty. */
export function askedFor(words: readonly string[]): Asked {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const scan = scanArguments(before);
  const whole = (wanted: Wanted): Asked => ({ kept: '', typed, wanted, scan });
  if (scan.unknown !== undefined) return whole(value('anything'));
  const found = scan.flags.has('print') ? undefined : findCommand(scan.words);
  const command = found?.kind ?? null;
  if (scan.incomplete !== undefined) return whole(flagValue(flagOf(scan.incomplete), command));
  if (typed.startsWith('-') && !before.includes('--')) {
    const equals = typed.startsWith('--') ? typed.indexOf('=') : -1;
    if (equals === -1) return whole({ kind: 'flag', command, flags: flagsHere(scan, command) });
    const kept = typed.slice(0, equals + 1);
    const wanted = flagValue(flagOf(typed.slice(0, equals)), command);
    return { kept, typed: typed.slice(equals + 1), wanted, scan };
  }
  return whole(operand(scan, found));
}

function operand(scan: Scan, found: ReturnType<typeof findCommand>): Wanted {
  if (found !== undefined) {
    const source = operandSource(found.kind, found.operands.length);
    return found.kind === 'help' ? { kind: 'command word', after: found.operands } : value(source);
  }
  // A prompt, or words that begin no command.
  if (scan.flags.has('print')) return value('anything');
  return { kind: 'command word', after: scan.words };
}

function value(source: ValueSource): Wanted {
  return { kind: 'value', source };
}

function flagValue(name: FlagName | undefined, command: CommandKind | null): Wanted {
  return value((name === undefined ? undefined : flagSource(name, command)) ?? 'anything');
}

function flagOf(spelling: string): FlagName | undefined {
  return FLAG_NAMES.find((name) => {
    const { short } = flagSpec(name);
    return spelling === `--${name}` || (short !== undefined && spelling === `-${short}`);
  });
}

function flagsHere({ words, flags }: Scan, command: CommandKind | null): readonly FlagName[] {
  if (command !== null) return commandSpec(command).flags;
  // `tasks`: no command yet, and no run.
  const isPartOfOne = words.length > 0 && !flags.has('print') && commandsUnder(words).length > 0;
  return isPartOfOne ? ['help'] : RUN.flags;
}
