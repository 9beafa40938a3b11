import {
  commandSpec,
  commandsUnder,
  findCommand,
  RUN,
  type CommandKind,
} from '../../command-table.ts';
import { FLAG_NAMES, flagSpec, type FlagName } from '../../flags.ts';
import { scanArguments, type Scan } from '../../scan.ts';
import { ANYTHING, flagSource, operandSource, type ValueSource } from './sources.ts';

/** The last word of a command line that is still being typed. */
export interface WordAtCursor {
  /** What it begins with whatever follows, as `--model=`. */
  readonly prefix: string;
  /** What is there of the rest. */
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
export function wordAtCursor(words: readonly string[]): WordAtCursor {
  const typed = words.at(-1) ?? '';
  const scan = scanArguments(words.slice(0, -1));
  const whole = (wanted: Wanted): WordAtCursor => ({ prefix: '', typed, wanted, scan });
  if (scan.unknown !== undefined) return whole(value(ANYTHING));
  const found = scan.flags.has('print') ? undefined : findCommand(scan.words);
  const command = found?.kind ?? null;
  if (scan.incomplete !== undefined) return whole(flagValue(flagOf(scan.incomplete), command));
  if (typed.startsWith('-') && scan.flagsEnded !== true) {
    const equals = typed.startsWith('--') ? typed.indexOf('=') : -1;
    if (equals === -1) return whole({ kind: 'flag', command, flags: flagsHere(scan, command) });
    const prefix = typed.slice(0, equals + 1);
    const wanted = flagValue(flagOf(typed.slice(0, equals)), command);
    return { prefix, typed: typed.slice(equals + 1), wanted, scan };
  }
  return whole(operand(scan, found));
}

function operand(scan: Scan, found: ReturnType<typeof findCommand>): Wanted {
  if (found === undefined) {
    return takesPrompt(scan) ? value(ANYTHING) : { kind: 'command word', after: scan.words };
  }
  if (found.kind === 'help') return { kind: 'command word', after: found.operands };
  if (found.kind === 'run-template' && scan.flags.has('continue')) {
    return value({ found: 'runs of templates' });
  }
  return value(operandSource(found.kind, found.operands.length));
}

/** Words that begin no command are what a run is told. */
function takesPrompt({ flags }: Scan): boolean {
  return flags.has('print') || flags.has('continue') || flags.has('resume');
}

function value(source: ValueSource): Wanted {
  return { kind: 'value', source };
}

function flagValue(name: FlagName | undefined, command: CommandKind | null): Wanted {
  return value((name === undefined ? undefined : flagSource(name, command)) ?? ANYTHING);
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
