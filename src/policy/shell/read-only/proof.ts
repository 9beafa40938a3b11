import type { ShellWord } from '../parsed-line.ts';

/**
 * The depth to which a command reads below a path. `itself`: only the path. `names`: the names below the path.
 * `contents`: the contents of the files below the path. `followed`: also the targets of links below the path.
 * `tracked`: the contents of the files below the path that git tracks.
 */
export type ReadDepth = 'itself' | 'names' | 'contents' | 'followed' | 'tracked';

/** A path that a command reads. */
export interface CommandRead {
  /**
   * The path as the kernel gets it: absolute, relative to the working directory, or with `~/` for the home directory.
   */
  readonly path: string;
  readonly below: ReadDepth;
  /** If set, `path` is relative to the top of the git repository that contains this directory. */
  readonly topOf?: string;
}

/** The result of the attempt to prove that a command line changes nothing if it runs now. */
export type LineProof =
  | {
      readonly proven: true;
      readonly reads: readonly CommandRead[];
      /** Names of programs that are looked up on PATH, each once. */
      readonly programs: readonly string[];
      /** Directories in which git runs, written like `CommandRead.path`. */
      readonly repositories: readonly string[];
    }
  /** `reason` is a clause in which "it" means the command line. */
  | { readonly proven: false; readonly reason: string };

/** The paths that one simple command reads, or the reason why it is not proved to only read. */
export type ReadOnlyVerdict =
  | {
      readonly ok: true;
      readonly reads: readonly CommandRead[];
      /** The directory in which git runs, if the command is git. */
      readonly repository?: string;
    }
  | { readonly ok: false; readonly reason: string };

export const READS_NOTHING: ReadOnlyVerdict = { ok: true, reads: [] };

export function provenToRead(reads: readonly CommandRead[]): ReadOnlyVerdict {
  return { ok: true, reads };
}

export function notProven(reason: string): ReadOnlyVerdict {
  return { ok: false, reason };
}

/** The maximum length of a quoted word in UTF-16 units. */
const MAX_QUOTED = 60;

/** Quotes a word of a command line in a reason, cut to a short text on one line. */
export function quoteShellWord(text: string): string {
  const short = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return /^[\w./:=@%+-]+$/.test(short) ? `\`${short}\`` : JSON.stringify(short);
}

/** Explains why a word whose value only the running shell knows is not accepted. */
export function explainUnknownValue({ text }: ShellWord): string {
  return `only the running shell knows what ${quoteShellWord(text)} stands for`;
}

/** Joins a directory and a path without resolving `..`, because the name before `..` may be a link. */
export function joinShellPath(directory: string, path: string): string {
  if (path === '.') return directory;
  return directory === '.' || /^(?:\/|~\/|~$)/.test(path) ? path : `${directory}/${path}`;
}

/** Converts a read to the same read by a command that runs in another directory. */
export function moveReadTo(directory: string, read: CommandRead): CommandRead {
  return read.topOf === undefined
    ? { ...read, path: joinShellPath(directory, read.path) }
    : { ...read, topOf: joinShellPath(directory, read.topOf) };
}
