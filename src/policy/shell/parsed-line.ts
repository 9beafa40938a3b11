/**
 * The form of the value that the shell gives a word when it runs. `literal`: the characters of the word. `home`: a path
 * in the home directory. `text`: exactly one word of unknown content. `pipe`: the name of a pipe from a command
 * (`<(…)`). `glob`: the file names that match a pattern. `open`: any number of words of unknown content.
 */
export type WordForm = 'literal' | 'home' | 'text' | 'pipe' | 'glob' | 'open';

/** One word of a command. */
export interface ShellWord {
  /** The word as it is written. */
  readonly text: string;
  /** The value without quotes; null if it is known only when the shell runs (an expansion, a glob, a tilde). */
  readonly value: string | null;
  readonly form: WordForm;
  /** The path that the word names, with `~/` for the home directory; null if it is known only when the shell runs. */
  readonly path: string | null;
}

/** Creates a word whose value is known. */
export function createLiteralWord(value: string): ShellWord {
  return { text: value, value, form: 'literal', path: value };
}

/** A program with its arguments, anywhere in a command line. */
export interface SimpleCommand {
  /** The program comes first. Empty for a command that consists only of assignments and redirections. */
  readonly words: readonly ShellWord[];
  /** True if assignments of variables stand before the program. */
  readonly hasAssignments: boolean;
  /** True if further words that the line does not show may follow, as with xargs. */
  readonly isOpenEnded: boolean;
  /** The text that the line feeds to its standard input. Absent if the line feeds it nothing. */
  readonly input?: FedInput;
}

/** A text that a line feeds to a command by a pipe, a here-document or a here-string. */
export interface FedInput {
  /** The text; null if it is known only when the shell runs, or if several commands may read it. */
  readonly text: string | null;
}

/** Adds an input to a command, unless the command has one. */
export function addInput(command: SimpleCommand, input: FedInput): SimpleCommand {
  return command.input === undefined ? { ...command, input } : command;
}

/** A redirection, a here-string (`<<<`) or a here-document (`<<`, whose target is its text). */
export interface ShellRedirect {
  readonly operator: string;
  /** The target, or null if there is none, or its file descriptor is kept in a variable. */
  readonly target: ShellWord | null;
  /** True if the redirection opens a file. /dev/null and descriptors of the shell (`/dev/stderr`) do not count. */
  readonly opensFile: boolean;
}

/** One comparison inside `[[ ]]`. */
export interface ShellTest {
  readonly operator: string;
  /** One or two words. */
  readonly operands: readonly ShellWord[];
}

/** A command line, parsed with a full shell grammar. */
export interface ParsedShellLine {
  /** Every simple command, also inside pipes, substitutions, blocks and functions. */
  readonly commands: readonly SimpleCommand[];
  readonly redirects: readonly ShellRedirect[];
  readonly tests: readonly ShellTest[];
  /**
   * For a line of the form `cd DIRECTORY && …`, the directory in which all later commands run; null for any other line.
   * The cd itself is the first of `commands`.
   */
  readonly directory: ShellWord | null;
  /** Reasons why `commands` may be incomplete. There are none if the full line was parsed. */
  readonly errors: readonly string[];
  /**
   * Reasons why the line may do more than run these commands, or may change their meaning: functions, variables and so
   * on.
   */
  readonly doubts: readonly string[];
}

/** Parses a command line. Never throws: a line that cannot be parsed has errors. */
export type ShellParser = (line: string) => ParsedShellLine;

/**
 * Finds a reason why a line may do more than run its commands. Returns undefined if the line was parsed completely and
 * there is no such reason.
 */
export function findDoubt({
  errors,
  doubts,
  redirects,
  tests,
}: ParsedShellLine): string | undefined {
  const first = errors[0] ?? doubts[0];
  if (first !== undefined) return first;
  if (redirects.some((each) => each.opensFile)) return 'it redirects to or from a file';
  return tests.length > 0 ? 'it has a `[[ ]]` test' : undefined;
}
