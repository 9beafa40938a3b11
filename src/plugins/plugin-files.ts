import { createHash } from 'node:crypto';
import { MusterError } from '../base/errors.ts';
import { escapeLine } from '../config/message-text.ts';

/** A file of a plugin with its content. */
export interface PluginFile {
  /** The path relative to the directory of the plugin, with `/` between its parts. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
}

const MEGABYTE = 1024 * 1024;

/** The limits of a plugin. Sizes are in bytes, and lengths in characters. */
export const PLUGIN_LIMITS = {
  files: 5_000,
  fileBytes: 10 * MEGABYTE,
  totalBytes: 50 * MEGABYTE,
  pathLength: 400,
} as const;

/** Matches characters that have no place in the name of a file, because they could hide what a review shows. */
const UNSAFE_CHARACTERS = /[\p{C}\p{Zl}\p{Zp}\\]/u;

/**
 * Collects the files of a plugin and checks each one before it is read. Every method throws MusterError for a file that
 * no plugin may have, and for a limit that is reached.
 */
export class PluginFileCollector {
  /** The source of the files, for messages. */
  readonly #source: string;
  readonly #files: PluginFile[] = [];
  readonly #leftOut: string[] = [];
  /** The paths without the differences that some file systems ignore. */
  readonly #folded = new Map<string, string>();
  #totalBytes = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Checks the path and the size (in bytes) of a file that is to be read. */
  check(path: string, size: number): void {
    this.#checkPath(path);
    const { files, fileBytes, totalBytes } = PLUGIN_LIMITS;
    if (this.#files.length + this.#leftOut.length >= files) {
      throw this.#limit(`it has more than ${files} files`);
    }
    if (size > fileBytes) {
      throw this.#limit(`${escapeLine(path)} is larger than ${fileBytes / MEGABYTE} MB`);
    }
    if (this.#totalBytes + size > totalBytes) {
      throw this.#limit(`its files are larger than ${totalBytes / MEGABYTE} MB together`);
    }
  }

  add(file: PluginFile): void {
    this.check(file.path, file.bytes.length);
    const folded = file.path.normalize('NFC').toLowerCase();
    const other = this.#folded.get(folded);
    if (other !== undefined) {
      throw this.refuse(
        `${escapeLine(file.path)} and ${escapeLine(other)} are the same file on some systems`,
      );
    }
    this.#folded.set(folded, file.path);
    this.#totalBytes += file.bytes.length;
    this.#files.push(file);
  }

  /** Notes that a link is not part of the plugin. Many repositories have links that no agent needs. */
  leaveOut(path: string): void {
    this.check(path, 0);
    this.#leftOut.push(path);
  }

  /** The paths of the links that are left out, in any order. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  /** Returns the files, sorted by path. */
  list(): readonly PluginFile[] {
    return this.#files.toSorted((a, b) => comparePaths(a.path, b.path));
  }

  /** Creates the error for a source that cannot be a plugin. */
  refuse(reason: string): MusterError {
    return new MusterError(
      'INVALID_PARAM',
      `${this.#source} cannot be used as a plugin: ${reason}`,
    );
  }

  #checkPath(path: string): void {
    const shown = escapeLine(path.slice(0, PLUGIN_LIMITS.pathLength));
    if (path.length > PLUGIN_LIMITS.pathLength) {
      throw this.#limit(`the path ${shown}… is longer than ${PLUGIN_LIMITS.pathLength} characters`);
    }
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..')) {
      throw this.refuse(`the path ${shown} leads out of its directory`);
    }
    if (UNSAFE_CHARACTERS.test(path)) {
      throw this.refuse(`the path ${shown} has unprintable characters or a backslash`);
    }
    if (parts.some((part) => part.toLowerCase() === '.git')) {
      throw this.refuse(`the path ${shown} is part of a git directory`);
    }
  }

  #limit(reason: string): MusterError {
    return new MusterError(
      'LIMIT_EXCEEDED',
      `${this.#source} cannot be used as a plugin: ${reason}. This limit cannot be changed`,
    );
  }
}

/**
 * Returns the SHA-256 hash of all files in hexadecimal: of their paths, their contents, and whether they can be
 * executed. The order of the files does not matter.
 */
export function hashPluginFiles(files: readonly PluginFile[]): string {
  const rows = files
    .map(({ path, bytes, isExecutable }) => [path, isExecutable, hashBytes(bytes)] as const)
    .toSorted(([a], [b]) => comparePaths(a, b));
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

function hashBytes(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function comparePaths(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns the text of a file. Returns null if there is no such file. */
export function readPluginText(files: readonly PluginFile[], path: string): string | null {
  const file = files.find((each) => each.path === path);
  return file === undefined ? null : file.bytes.toString('utf8').replace(/^\uFEFF/, '');
}

/** Returns the files at a path or below it; all files for the empty path. */
export function listPluginFilesBelow(
  files: readonly PluginFile[],
  path: string,
): readonly PluginFile[] {
  if (path === '') return files;
  return files.filter((file) => file.path === path || file.path.startsWith(`${path}/`));
}
