/**
 * The kind of value that the running shell gives a word. `literal`: the characters themselves. `home`: a path in the home
 * directory. `text`: one word of unknown content. `pipe`: the name of a pipe from a command. `glob`: names on the disk
 * that match a pattern. `open`: any number of words.
 */
export type WordForm = 'literal' | 'home' | 'text' | 'pipe' | 'glob' | 'open';

/** One word of a command. */
export interface ShellWord {
  /** The word as it is written. */
  readonly text: string;
  /** The value without quotes. It is null if only the running shell knows it (an expansion, a glob, a tilde). */
  readonly value: string | null;
  readonly form: WordForm;
  /** The path that the word names, with `~/` for the home directory. It is null if only the running shell knows it. */
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
  /** True if words may follow that the line does not show, as with xargs. */
  readonly isOpenEnded: boolean;
}

/** A redirection, a here-string (`<<<`) or a here-document (`<<`, whose target is its text). */
export interface ShellRedirect {
  readonly operator: string;
  /** The target, or null if there is none, or its file descriptor is kept in a variable. */
  readonly target: ShellWord | null;
  /** True if the shell opens a file for it. /dev/null and descriptors of the shell (`/dev/stderr`) do not count. */
  readonly opensFile: boolean;
}

/** One comparison inside `[[ ]]`. */
export interface ShellTest {
  readonly operator: string;
  /** One or two words. */
  readonly operands: readonly ShellWord[];
}

/** A command line, parsed by a real shell grammar. */
export interface ParsedShellLine {
  /** Every simple command, also inside pipes, substitutions, blocks and functions. */
  readonly commands: readonly SimpleCommand[];
  readonly redirects: readonly ShellRedirect[];
  readonly tests: readonly ShellTest[];
  /**
   * The directory of a line `cd DIRECTORY && …`, of which no other command runs elsewhere. The cd itself is the first
   * of `commands`. The directory of any other line is null.
   */
  readonly directory: ShellWord | null;
  /** Reasons why `commands` may be incomplete. There are none if the full line was parsed. */
  readonly errors: readonly string[];
  /** Reasons why the line may do more than run these commands, or changes their meaning: functions, variables and so on. */
  readonly doubts: readonly string[];
}

/** Parses a command line. Never throws: a line that cannot be parsed has errors. */
export type ShellParser = (line: string) => ParsedShellLine;

/** Finds a reason why a line may do more than run its commands. Returns undefined if it was parsed completely and does not. */
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
