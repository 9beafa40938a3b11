import { lstatIfPresent } from '../path-lookup.ts';
import { isSecretPath } from '../secret-paths.ts';
import { findRepository } from '../../git/repository.ts';
import { readTrackedVersions, type TrackedVersion } from '../../git/tracked-files.ts';
import { join } from 'node:path';
import type { EntryStats } from './path-change.ts';

/** The maximum size in bytes of a content that is kept in memory, and of all of them together. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

/**
 * Keeps the contents of files in memory until a command changes them. The contents of files that git has are not kept,
 * and neither are those of files that usually contain secrets.
 */
export class KeptContents {
  private total = 0;

  /** Tells whether a content of this size may be kept. */
  hasRoomFor(path: string, size: number): boolean {
    return size <= MAX_FILE_BYTES && this.total + size <= MAX_TOTAL_BYTES && !isSecretPath(path);
  }

  /** Keeps a content. Returns it, or null if it cannot be kept. */
  keep(path: string, bytes: Buffer | null): Buffer | null {
    if (bytes === null || !this.hasRoomFor(path, bytes.length)) return null;
    this.total += bytes.length;
    return bytes;
  }

  release(bytes: Buffer | null): void {
    this.total -= bytes?.length ?? 0;
  }
}

/** A content that is an object of a git repository. */
export interface GitContent {
  readonly gitDirectory: string;
  readonly id: string;
}

/** Finds files whose content git has, by the index of the repository of a directory. */
export class TrackedContents {
  private readonly versions: ReadonlyMap<string, TrackedVersion>;
  private readonly top: string;
  private readonly gitDirectory: string;
  private readonly writtenMs: number;

  /** `directory`: absolute, without links. */
  constructor(directory: string) {
    const repository = findRepository(directory);
    this.top = repository?.top ?? directory;
    this.gitDirectory = repository?.gitDirectory ?? '';
    this.writtenMs = lstatIfPresent(join(this.gitDirectory, 'index'))?.mtimeMs ?? 0;
    this.versions = repository === undefined ? new Map() : readTrackedVersions(repository);
  }

  /** Returns the object with the content of a file; null if git does not have it, or if that is not certain. */
  find(path: string, { size, mtimeMs }: EntryStats): GitContent | null {
    const version = this.versions.get(path.slice(this.top.length + 1));
    // Both times come from the same nanoseconds, but are rounded in different ways.
    const isSame =
      version !== undefined &&
      version.size === size % 2 ** 32 &&
      Math.abs(version.mtimeMs - mtimeMs) < 0.01;
    return isSame && mtimeMs < this.writtenMs
      ? { gitDirectory: this.gitDirectory, id: version.id }
      : null;
  }
}
