import { statSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/errors.ts';
import type { ProjectTrust } from '../../sys/files/project-file.ts';
import { readListedFiles, type DiscoverOptions, type ReadFiles } from './discover.ts';
import type { DiscoveryResult } from './discovery-result.ts';
import type { DefinitionKind } from './format.ts';
import { listDefinitionFiles, type ListedFiles } from './list-files.ts';
import { createSearchContext, type InstalledPlugin, type SearchContext } from './search-context.ts';

/** The minimum time between two checks of the files, because checking 2,000 files takes about 20 ms. */
const CHECK_INTERVAL_MS = 2_000;

export interface LiveDefinitionsOptions<T> extends DiscoverOptions<T> {
  readonly context: SearchContext;
  /** Returns the present trust in the project's files, for a reload. */
  readonly currentTrust: () => ProjectTrust;
  /** Returns the plugins that are active now, for a reload. */
  readonly currentPlugins: () => Promise<readonly InstalledPlugin[]>;
  /** Other paths whose changes make a reload necessary. */
  readonly dependsOn: readonly string[];
  readonly clock: Clock;
  readonly onReload: (result: DiscoveryResult<T>) => void;
  /** Called if a reload fails. The definitions that are already loaded stay in use. */
  readonly onError: (thrown: unknown) => void;
}

/** The loaded definitions, and the fingerprint of their files. */
interface Loaded<T> extends ReadFiles<T> {
  readonly fingerprint: string;
}

/**
 * The definitions of a kind, which are reloaded when their files change. A running task keeps the definition with which
 * it started.
 */
export class LiveDefinitions<T extends { readonly name: string }> {
  readonly #kind: DefinitionKind<T>;
  readonly #options: LiveDefinitionsOptions<T>;
  #loaded: Loaded<T>;
  /** The plugins whose files are loaded. */
  #plugins: readonly InstalledPlugin[];
  #checkedAt: number;
  #runningCheck: Promise<void> | undefined;

  private constructor(
    kind: DefinitionKind<T>,
    options: LiveDefinitionsOptions<T>,
    loaded: Loaded<T>,
  ) {
    this.#kind = kind;
    this.#options = options;
    this.#loaded = loaded;
    this.#plugins = options.context.plugins;
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

  /**
   * Reloads the definitions if files have changed since the last check. Calls during a check wait for this check. Never
   * rejects.
   */
  refresh(): Promise<void> {
    this.#runningCheck ??= this.#reload().finally(() => {
      this.#runningCheck = undefined;
    });
    return this.#runningCheck;
  }

  async #reload(): Promise<void> {
    const { cwd, environment, clock, currentTrust, currentPlugins } = this.#options;
    const { dependsOn, onReload, onError } = this.#options;
    const now = clock.monotonic();
    if (now - this.#checkedAt < CHECK_INTERVAL_MS) return;
    this.#checkedAt = now;
    try {
      const context = createSearchContext(cwd, environment, this.#plugins);
      const listing = fingerprintListing(listDefinitionFiles(this.#kind, context));
      const { fingerprint, referencedFiles } = this.#loaded;
      if (combineFingerprints(listing, [...dependsOn, ...referencedFiles]) === fingerprint) return;
      this.#plugins = await currentPlugins();
      this.#loaded = await load(this.#kind, {
        ...this.#options,
        context: createSearchContext(cwd, environment, this.#plugins),
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
  // Compute the fingerprint before the files are read, so that a change during the reading is noticed at the next
  // check.
  const listing = fingerprintListing(listed);
  const read = await readListedFiles(kind, listed, options);
  const paths = [...options.dependsOn, ...read.referencedFiles];
  return { ...read, fingerprint: combineFingerprints(listing, paths) };
}

function combineFingerprints(listing: string, paths: readonly string[]): string {
  return `${listing}\n${pathsFingerprint(paths)}`;
}

/** Returns a text that changes if a listed file is added, removed or written. No file is opened. */
function fingerprintListing(listed: readonly ListedFiles<unknown>[]): string {
  return listed
    .flatMap(({ files, skipped }) => [
      ...files.map(({ path, realPath }) => `${path}\0${describeFileState(realPath)}`),
      ...skipped.map(({ path, code }) => `${path}\0${code}`),
    ])
    .join('\n');
}

/** Returns a text that changes if a file at one of these paths is added, removed or written. */
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
    // A path that cannot be examined counts as unchanged until it can be examined.
    return errorMessage(error);
  }
}
