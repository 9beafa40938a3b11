import { toPrintableJson } from '../../base/printable-json.ts';
import type { Environment } from '../../sys/env.ts';
import type { FlagReader } from './flag-reader.ts';
import type { FlagName, FlagSpec } from './flags.ts';
import type { AskSecret, Questions } from './terminal.ts';
import type { CompletionValues } from './completion-values.ts';
import { UsageError } from '../../base/errors.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';

/**
 * A command of the command line. The module of a command imports little, because all commands are loaded together:
 * `run` imports what the command needs.
 */
export interface Command<Options = unknown> {
  /** The words that start the command, as in `tasks list`; empty for a prompt or a conversation. */
  readonly words: string;
  /** One line of the help, without a full stop. */
  readonly summary: string;
  readonly operands: readonly Operand[];
  /** The flags of the command except `--help`, in the order in which its help lists them. */
  readonly flags: readonly FlagName[];
  /** Changes to the table of flags, for flags that have a more special meaning in this command. */
  readonly flagDetails?: Readonly<Partial<Record<FlagName, Partial<FlagSpec>>>>;
  readonly examples: readonly string[];
  /** Turns the arguments into options. Throws UsageError. Must be pure. */
  parse(args: CommandArguments): Options;
  /**
   * Says what to write instead of a flag that the command does not have. Returns undefined if the flag is a mere mistake.
   * Default: every such flag is one. `operands` are those before the flag.
   */
  explainFlag?(flag: string, operands: readonly string[]): string | undefined;
  /** Returns the exit code. */
  run(options: Options, context: CommandContext): Promise<number> | number;
}

/** An argument that is not a flag. */
export interface Operand {
  /** The name in the help: `[NAME]` for an operand that may be left out, `NAME…` for one that may be repeated. */
  readonly name: string;
  readonly completes?: CompletionValues;
  /** The values that completion offers instead of `completes` when the command line has a certain flag. */
  readonly completesWith?: Readonly<Partial<Record<FlagName, CompletionValues>>>;
}

export interface CommandArguments {
  /** The operands. Their number has been checked, except for that of a prompt. */
  readonly operands: readonly string[];
  readonly flags: FlagReader;
  /** True if the command line contains `--`, after which every argument is an operand. */
  readonly flagsEnded: boolean;
}

/** The connections of a command to its process and its user. */
export interface CommandContext {
  /** Writes to stdout, after making the text safe for a terminal. Adds no line end. */
  readonly out: (text: string) => void;
  /** Writes to stderr, after making the text safe for a terminal. Adds no line end. */
  readonly err: (text: string) => void;
  readonly environment: Environment;
  /** The home directory; absolute. */
  readonly home: string;
  /** The directory of the process; absolute. */
  readonly cwd: string;
  /** Asks a person yes or no; null if there is no terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Starts to ask a person several questions; null if there is no terminal. */
  readonly questions: (() => Promise<Questions>) | null;
  /** Asks a person for a secret, which is not shown; null if there is no terminal. */
  readonly secret: AskSecret | null;
  /** Loads all commands with words. */
  readonly commands: LoadCommands;
  /** Returns the help of the program. */
  readonly help: () => Promise<string>;
}

export type LoadCommands = () => Promise<readonly Command[]>;

/** The output of a command, as JSON and as text. */
export interface Report {
  /** For `--json`. */
  readonly json: unknown;
  readonly text: string;
  /** The exit code. Default 0. */
  readonly code?: number;
}

interface ReportCommand<Options> extends Omit<Command<Options>, 'run'> {
  run(options: Options, context: CommandContext): Promise<Report>;
}

/** Defines a command that prints one report: JSON with `--json`, otherwise text. */
export function defineReportCommand<Options extends { readonly json: boolean }>({
  run,
  ...spec
}: ReportCommand<Options>): Command<Options> {
  return {
    ...spec,
    run: async (options, context) => {
      const { json, text, code = 0 } = await run(options, context);
      context.out(options.json ? `${toPrintableJson(json, 2)}\n` : text);
      return code;
    },
  };
}

/** Infers the options of a command from its parser. */
export function defineCommand<Options>(command: Command<Options>): Command<Options> {
  return command;
}

/** Returns the flags of a command, `--help` included. */
export function commandFlags({ flags }: Command): readonly FlagName[] {
  return [...flags, 'help'];
}

/** Finds the command with which `words` begin. The remaining words are its operands. */
export function findCommand(
  commands: readonly Command[],
  words: readonly string[],
): { readonly command: Command; readonly operands: readonly string[] } | undefined {
  const command = commands.find((each) => startsWith(words, each.words.split(' ')));
  if (command === undefined) return undefined;
  return { command, operands: words.slice(command.words.split(' ').length) };
}

/** Returns the commands that begin with `words` and have further words. */
export function commandsUnder(
  commands: readonly Command[],
  words: readonly string[],
): readonly Command[] {
  return commands.filter((each) => {
    const own = each.words.split(' ');
    return own.length > words.length && startsWith(own, words);
  });
}

function startsWith(words: readonly string[], beginning: readonly string[]): boolean {
  return beginning.every((word, index) => words[index] === word);
}

/** Throws UsageError if an agent runs this process, because only a person may decide what agents may do. */
export function refuseAgents(environment: Environment, action: string): void {
  if (environment[TASK_VARIABLE] === undefined) return;
  throw new UsageError(`an agent cannot ${action}; run this in a shell of your own`);
}
