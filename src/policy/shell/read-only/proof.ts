import type { ShellWord } from '../parsed-line.ts';

/**
 * How far below a path a command reads: not at all, the names there, the contents there, the contents there
 * and where links lead, or the contents that git keeps of it.
 */
export type ReadDepth = 'itself' | 'names' | 'contents' | 'followed' | 'tracked';

/** A path that a command reads. */
export interface CommandRead {
  /** As the kernel gets it: relative to the working directory, absolute, or `~/` for the home directory. */
  readonly path: string;
  readonly below: ReadDepth;
  /** Set where `path` is relative to the top of a git repository: the one that this directory lies in. */
  readonly topOf?: string;
}

/** Whether a command line is proved to change nothing, were it run now. */
export type LineProof =
  | {
      readonly proven: true;
      readonly reads: readonly CommandRead[];
      /** Names that are looked up on PATH, each once. */
      readonly programs: readonly string[];
      /** Directories in which git runs, as `CommandRead.path`. */
      readonly repositories: readonly string[];
    }
  /** In words that follow the name of the command line. */
  | { readonly proven: false; readonly because: string };

/** What one simple command was found to read, or why it is not judged to only read. */
export type ReadOnlyVerdict =
  | {
      readonly ok: true;
      readonly reads: readonly CommandRead[];
      /** The directory in which it runs git, if it does. */
      readonly repository?: string;
    }
  | { readonly ok: false; readonly because: string };

export const READS_NOTHING: ReadOnlyVerdict = { ok: true, reads: [] };

export function provenToRead(reads: readonly CommandRead[]): ReadOnlyVerdict {
  return { ok: true, reads };
}

export function notProven(because: string): ReadOnlyVerdict {
  return { ok: false, because };
}

const MAX_SHOWN = 60;

/** A word of a command line in a reason: short, and one word of one line. */
export function quoteShellWord(text: string): string {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return /^[\w./:=@%+-]+$/.test(shown) ? `\`${shown}\`` : JSON.stringify(shown);
}

/** Why a word whose value only the running shell knows is not judged. */
export function explainUnknownValue({ text }: ShellWord): string {
  return `only the running shell knows what ${quoteShellWord(text)} stands for`;
}

/** A path as it is in a directory, joined without taking `..` by its name: links may stand before it. */
export function joinShellPath(directory: string, path: string): string {
  if (path === '.') return directory;
  return directory === '.' || /^(?:\/|~\/|~$)/.test(path) ? path : `${directory}/${path}`;
}

/** What is read when a command runs in that directory. */
export function moveReadTo(directory: string, read: CommandRead): CommandRead {
  return read.topOf === undefined
    ? { ...read, path: joinShellPath(directory, read.path) }
    : { ...read, topOf: joinShellPath(directory, read.topOf) };
}
