/** One word of a command. */
export interface ShellWord {
  /** As it stands in the source. */
  readonly text: string;
  /** Quotes taken off; null when only the running shell knows it (an expansion, a glob, a tilde). */
  readonly value: string | null;
}

/** A program with its arguments, wherever in the line it stands. */
export interface SimpleCommand {
  /** The program first; empty for assignments and redirections alone. */
  readonly words: readonly ShellWord[];
  /** Whether variables are set in front of it. */
  readonly assigns: boolean;
  /** Whether more words may follow that the line doesn't show, as with xargs. */
  readonly openEnded: boolean;
}

/** A command line as a real shell grammar reads it. */
export interface ShellReading {
  /** Every simple command, those inside pipes, substitutions, blocks and functions included. */
  readonly commands: readonly SimpleCommand[];
  /** Why `commands` may not be all of them. Empty: the whole line was read. */
  readonly errors: readonly string[];
  /** What does more than run these commands, or changes what they mean: redirections, functions, … */
  readonly doubts: readonly string[];
}

/** Never throws: what can't be read is an error of the reading. */
export type ShellParser = (line: string) => ShellReading;

/** Loads the grammar. Only rules about commands need it, so it is no part of a start. */
export async function loadShellParser(): Promise<ShellParser> {
  const { readShell } = await import('./shell-grammar.ts');
  return readShell;
}
