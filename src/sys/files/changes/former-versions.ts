import { readEnvironment } from '../../env.ts';
import { ObjectReader } from '../../git/object-reader.ts';
import { findTrustedProgram } from '../../processes/find-program.ts';
import { hashContent } from '../read-file.ts';
import { isSecretPath } from '../secret-paths.ts';
import { describeUnknown } from './entry-content.ts';
import type { FileEntry } from './file-entries.ts';
import type { GitContent } from './kept-contents.ts';
import type { PathVersion } from './path-change.ts';

/** The maximum number and the maximum size in bytes of earlier contents that are stored after one command. */
const MAX_STORED = 500;
const MAX_STORED_BYTES = 32 * 1024 * 1024;
/** The maximum number of objects of git that are read after one command. */
const MAX_READ_OBJECTS = 5_000;
/** The maximum time for one of them in milliseconds. A command can make git wait, for example by a pipe as an object. */
const MAX_READ_MS = 3_000;

/** Stores an earlier content durably. */
export type StoreContent = (bytes: Buffer) => Promise<void>;

/** Looks up the versions of files before they were changed, and stores their contents. */
export class FormerVersions {
  private readonly store: StoreContent;
  private readonly stored: Promise<void>[] = [];
  private readonly readers = new Map<string, ObjectReader | null>();
  private storedBytes = 0;
  private objects = 0;

  constructor(store: StoreContent) {
    this.store = store;
  }

  /** Returns the version of a path before a change. Stores its content if `after`, the entry after it, has another one. */
  async version(path: string, entry: FileEntry, after: FileEntry | null): Promise<PathVersion> {
    const content = entry.kept ?? (entry.git === null ? null : await this.readObject(entry.git));
    // A filter of git may change a content, and its size nearly always with it.
    if (content === null || content.length !== entry.stats.size)
      return toVersion(entry, entry.hash);
    const hash = entry.hash ?? hashContent(content);
    if (hash !== after?.hash) this.storeContent(path, content);
    return toVersion(entry, hash);
  }

  /** Resolves when all contents are stored. A content that cannot be stored is missing when a rewind needs it. */
  async close(): Promise<void> {
    for (const reader of this.readers.values()) reader?.close();
    await Promise.allSettled(this.stored);
  }

  private storeContent(path: string, content: Buffer): void {
    const isOver =
      this.stored.length >= MAX_STORED || this.storedBytes + content.length > MAX_STORED_BYTES;
    if (isOver || isSecretPath(path)) return;
    this.storedBytes += content.length;
    this.stored.push(this.store(content));
  }

  private async readObject({ gitDirectory, id }: GitContent): Promise<Buffer | null> {
    if (this.objects >= MAX_READ_OBJECTS) return null;
    this.objects += 1;
    const reader = this.readers.get(gitDirectory) ?? openReader(gitDirectory);
    this.readers.set(gitDirectory, reader);
    const giveUp = setTimeout(() => reader?.close(), MAX_READ_MS);
    const object = (await reader?.read(id)) ?? null;
    clearTimeout(giveUp);
    return object?.type === 'blob' ? Buffer.from(object.content) : null;
  }
}

function openReader(gitDirectory: string): ObjectReader | null {
  const git = findTrustedProgram('git', readEnvironment()['PATH'] ?? '', [gitDirectory]);
  return git === undefined ? null : new ObjectReader(git, gitDirectory);
}

/** Returns the version that an entry has. `hash`: identifies its content; null if it is not known. */
export function toVersion({ stats }: FileEntry, hash: string | null): PathVersion {
  return { hash: hash ?? describeUnknown(stats), mode: stats.mode };
}
