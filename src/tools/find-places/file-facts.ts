import { closeSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { HeldDirectory } from '../../sys/held-directory.ts';
import { inDirectory, openHeldFile } from '../../sys/open-in-roots.ts';
import { BINARY_SAMPLE_BYTES, openPlaceOf, type SearchScope } from '../search/search-types.ts';
import { NO_FACTS, type FactFinder, type FileFacts } from './corpus.ts';

/**
 * Reads files and finds what they hold. Their bytes are in one place of memory, one file after the other:
 * nothing of them is kept.
 */
export class FileReader {
  readonly #scope: SearchScope;
  readonly #finder: FactFinder;
  readonly #buffer: Buffer;

  /** `maxBytes`: of a larger file nothing is read. */
  constructor(scope: SearchScope, finder: FactFinder, maxBytes: number) {
    this.#scope = scope;
    this.#finder = finder;
    this.#buffer = Buffer.allocUnsafeSlow(maxBytes);
  }

  /** Of files of one directory, by their paths in the scope; null for one that is not to be opened now. */
  factsOf(directory: string, paths: readonly string[]): readonly (FileFacts | null)[] {
    const whole = join(this.#scope.directory, directory);
    return (
      orNull(() =>
        inDirectory(whole, openPlaceOf(this.#scope, whole), (held) =>
          paths.map((path) => orNull(() => this.#factsOf(held, path))),
        ),
      ) ?? paths.map(() => null)
    );
  }

  #factsOf(held: HeldDirectory, path: string): FileFacts {
    const { roots } = this.#scope;
    const { fd, stats } = openHeldFile(held, join(this.#scope.directory, path), { roots });
    try {
      const bytes = this.#read(fd, Number(stats.size));
      if (bytes === null) return NO_FACTS;
      const nul = bytes.indexOf(0);
      const isBinary = nul !== -1 && nul < BINARY_SAMPLE_BYTES;
      return isBinary ? NO_FACTS : this.#finder.factsOf({ path, bytes });
    } finally {
      closeSync(fd);
    }
  }

  /** What it held when it was opened; null: it has become too large. */
  #read(fd: number, size: number): Buffer | null {
    if (size > this.#buffer.length) return null;
    let length = 0;
    while (length < size) {
      const read = readSync(fd, this.#buffer, length, size - length, length);
      if (read === 0) break;
      length += read;
    }
    return this.#buffer.subarray(0, length);
  }
}

function orNull<T>(attempt: () => T): T | null {
  try {
    return attempt();
  } catch (thrown) {
    // Closed to this user, gone, or not what it was: only its path counts, and it is tried again.
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
