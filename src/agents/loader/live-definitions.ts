import { statSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/errors.ts';
import type { ProjectTrust } from '../../sys/files/project-file.ts';
import { readListedFiles, type DiscoverOptions, type ReadFiles } from './discover.ts';
import type { DiscoveryResult } from './discovery-result.ts';
import type { DefinitionKind } from './format.ts';
import { listDefinitionFiles, type ListedFiles } from './list-files.ts';
import { createSearchContext, type SearchContext } from './search-context.ts';

/** The milliseconds between two checks of the files: checking 2,000 of them takes about 20 ms. */
const CHECK_INTERVAL_MS = 2_000;

export interface LiveDefinitionsOptions<T> extends DiscoverOptions<T> {
  readonly context: SearchContext;
  /** Returns the trust that applies when files have changed. */
  readonly currentTrust: () => ProjectTrust;
  /** Other paths whose change makes a reload necessary. */
  readonly dependsOn: readonly string[];
  readonly clock: Clock;
  readonly onReload: (result: DiscoveryResult<T>) => void;
  /** Called when a reload fails. The definitions loaded before stay. */
  readonly onError: (thrown: unknown) => void;
}

interface Loaded<T> extends ReadFiles<T> {
  readonly fingerprint: string;
}

/** The definitions of a kind, reloaded when their files change. A running task keeps the definition it started with. */
export class LiveDefinitions<T extends { readonly name: string }> {
  readonly #kind: DefinitionKind<T>;
  readonly #options: LiveDefinitionsOptions<T>;
  #loaded: Loaded<T>;
  #checkedAt: number;
  #check: Promise<void> | undefined;

  private constructor(
    kind: DefinitionKind<T>,
    options: LiveDefinitionsOptions<T>,
    loaded: Loaded<T>,
  ) {
    this.#kind = kind;
    this.#options = options;
    this.#loaded = loaded;
    this.#checkedAt = options.clock.monotonic();
  }

  static async open<T extends { readonly name: string }>(
    kind: DefinitionKind<T>,
    options: LiveDefinitionsOptions<T>,
  ): Promise<LiveDefinitions<T>> {
    return new LiveDefinitions(kind, options, await load(kind, options));
  }

  get current(): DiscoveryResult<T> {
    return this.#loaded.result;
  }

  /** Reloads the definitions if files have changed since the last check. Checks that overlap are one check. Never rejects. */
  refresh(): Promise<void> {
    this.#check ??= this.#reload().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  async #reload(): Promise<void> {
    const { cwd, environment, clock, currentTrust, dependsOn, onReload, onError } = this.#options;
    const now = clock.monotonic();
    if (now - this.#checkedAt < CHECK_INTERVAL_MS) return;
    this.#checkedAt = now;
    try {
      const context = createSearchContext(cwd, environment);
      const listing = listingFingerprint(listDefinitionFiles(this.#kind, context));
      const { fingerprint, referencedFiles } = this.#loaded;
      if (combine(listing, [...dependsOn, ...referencedFiles]) === fingerprint) return;
      this.#loaded = await load(this.#kind, {
        ...this.#options,
        context: createSearchContext(cwd, environment),
        trust: currentTrust(),
      });
      onReload(this.current);
    } catch (thrown) {
      onError(thrown);
    }
  }
}

async function load<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  options: LiveDefinitionsOptions<T>,
): Promise<Loaded<T>> {
  const listed = listDefinitionFiles(kind, options.context);
  // Taken before the files are read, so that a change while they are read is noticed later.
  const listing = listingFingerprint(listed);
  const read = await readListedFiles(kind, listed, options);
  const paths = [...options.dependsOn, ...read.referencedFiles];
  return { ...read, fingerprint: combine(listing, paths) };
}

function combine(listing: string, paths: readonly string[]): string {
  return `${listing}\n${pathsFingerprint(paths)}`;
}

/** Returns a text that differs when a listed file has been added, removed or written. No file is opened. */
function listingFingerprint(listed: readonly ListedFiles<unknown>[]): string {
  return listed
    .flatMap(({ files, skipped }) => [
      ...files.map(({ path, realPath }) => `${path}\0${describeFileState(realPath)}`),
      ...skipped.map(({ path, code }) => `${path}\0${code}`),
    ])
    .join('\n');
}

/** Returns a text that differs when one of these paths has been added, removed or written. */
export function pathsFingerprint(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0${describeFileState(path)}`).join('\n');
}

function describeFileState(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined
      ? 'absent'
      : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
  } catch (error) {
    // A path that cannot be looked at counts as unchanged until it can.
    return errorMessage(error);
  }
}
