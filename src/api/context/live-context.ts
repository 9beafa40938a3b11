import { pathsFingerprint } from '../../agents/loader/live-definitions.ts';
import { createSearchContext, type SearchContext } from '../../agents/loader/search-context.ts';
import type { Clock } from '../../base/clock.ts';
import { createProjectContext } from '../../engine/prompt/prompt.ts';
import type { Environment } from '../../sys/env.ts';
import { collectFiles, type CollectOptions } from './collect-files.ts';
import { fitFiles } from './fit-files.ts';
import type { ProjectContext, ContextSource } from '../../protocol/project-context.ts';

export interface ContextOptions extends CollectOptions {
  readonly environment: Environment;
  /** The status of the repository when the session began, as text, or null. */
  readonly git: string | null;
  readonly clock: Clock;
  readonly onNotice: (line: string) => void;
}

/** The maximum number of bytes of all context files in one prompt, as in Codex. */
const MAX_BYTES = 32 * 1024;
/** The minimum time between two checks of the files. */
const CHECK_INTERVAL_MS = 2_000;

interface LoadedContext {
  readonly context: ProjectContext | null;
  /** All paths on which the context depends, whether or not they exist. */
  readonly checkedPaths: readonly string[];
  /**
   * The fingerprint of `checkedPaths`, or null until the first check, because the start of a session does not need it.
   */
  readonly fingerprint: string | null;
}

/**
 * Caches the context of each requested directory. Reads a context at the first request, and again when its files
 * change.
 */
export class LiveContext implements ContextSource {
  readonly #options: ContextOptions;
  readonly #loaded = new Map<string, LoadedContext>();
  readonly #reported = new Set<string>();
  #lastCheckAt: number;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.#lastCheckAt = options.clock.monotonic();
  }

  getContext(cwd: string): ProjectContext | null {
    const loaded = this.#loaded.get(cwd) ?? this.#load(this.#searchContextFor(cwd));
    this.#loaded.set(cwd, loaded);
    return loaded.context;
  }

  async refresh(): Promise<void> {
    const { clock, onNotice } = this.#options;
    const now = clock.monotonic();
    if (now - this.#lastCheckAt < CHECK_INTERVAL_MS) return;
    this.#lastCheckAt = now;
    for (const [cwd, { context, checkedPaths, fingerprint }] of this.#loaded) {
      if (pathsFingerprint(checkedPaths) === fingerprint) continue;
      const loaded = this.#load(createSearchContext(cwd, this.#options.environment));
      this.#loaded.set(cwd, { ...loaded, fingerprint: pathsFingerprint(loaded.checkedPaths) });
      if (loaded.context?.id === context?.id) continue;
      onNotice('context files have changed and were read again: new tasks get the new content');
    }
  }

  /**
   * Returns the search context of a directory. For the working directory, reuses the search context of the session
   * start.
   */
  #searchContextFor(cwd: string): SearchContext {
    const { searchContext, environment } = this.#options;
    return cwd === searchContext.cwd ? searchContext : createSearchContext(cwd, environment);
  }

  #load(searchContext: SearchContext): LoadedContext {
    const git = searchContext.cwd === this.#options.searchContext.cwd ? this.#options.git : null;
    const { files, checkedPaths, problems } = collectFiles({ ...this.#options, searchContext });
    for (const problem of problems) this.#report(problem);
    if (files.length === 0 && git === null)
      return { context: null, checkedPaths, fingerprint: null };
    const fitted = fitFiles(files, MAX_BYTES);
    const cut = [
      ...fitted.files.filter(({ isCut }) => isCut).map(({ name }) => name),
      ...fitted.leftOut,
    ];
    if (cut.length > 0) {
      this.#report(
        `context files have more than ${MAX_BYTES} bytes in total; these are cut or left out: ${cut.join(', ')}`,
      );
    }
    return {
      context: createProjectContext({ ...fitted, git }),
      checkedPaths,
      fingerprint: null,
    };
  }

  /** Reports each problem only once, even if the files are read again. */
  #report(line: string): void {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#options.onNotice(line);
  }
}
