/**
 * What the running shell makes of a word: the very characters, a path in the home directory, one word
 * of unknown content, the name of a pipe from a command, names on disk that match a pattern, or anything.
 */
export type WordForm = 'literal' | 'home' | 'text' | 'pipe' | 'glob' | 'open';

/** One word of a command. */
export interface ShellWord {
  /** As it stands in the source. */
  readonly text: string;
  /** Quotes taken off; null when only the running shell knows it (an expansion, a glob, a tilde). */
  readonly value: string | null;
  readonly form: WordForm;
  /** What it names as a path, `~/` for the home directory; null when only the running shell knows. */
  readonly path: string | null;
}

/** A program with its arguments, wherever in the line it stands. */
export interface SimpleCommand {
  /** The program first; empty for assignments and redirections alone. */
  readonly words: readonly ShellWord[];
  /** Whether variables are set in front of it. */
  readonly hasAssignments: boolean;
  /** Whether more words may follow that the line doesn't show, as with xargs. */
  readonly isOpenEnded: boolean;
}

/** A redirection, a here-string (`<<<`) or a here-document (`<<`, its target the text of it). */
export interface ShellRedirect {
  readonly operator: string;
  /** Null where it has none, or where its descriptor is kept in a variable. */
  readonly target: ShellWord | null;
  /** Whether the shell opens a file for it: /dev/null and its own descriptors (`/dev/stderr`) do not count. */
  readonly opensFile: boolean;
}

/** One comparison inside `[[ ]]`. */
export interface ShellTest {
  readonly operator: string;
  /** One or two. */
  readonly operands: readonly ShellWord[];
}

/** A command line as a real shell grammar reads it. */
export interface ParsedShellLine {
  /** Every simple command, those inside pipes, substitutions, blocks and functions included. */
  readonly commands: readonly SimpleCommand[];
  readonly redirects: readonly ShellRedirect[];
  readonly tests: readonly ShellTest[];
  /**
   * Where the line is `cd DIRECTORY && …` and nothing of it runs elsewhere: the directory. The cd itself
   * is the first of `commands`.
   */
  readonly directory: ShellWord | null;
  /** Why `commands` may not be all of them. Empty: the whole line was read. */
  readonly errors: readonly string[];
  /** What else does more than run these commands, or changes what they mean: functions, variables, … */
  readonly doubts: readonly string[];
}

/** Never throws: what can't be read is an error of the reading. */
export type ShellParser = (line: string) => ParsedShellLine;

/** Why a line does more than run its commands, or may; undefined: it was read whole, and does not. */
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
