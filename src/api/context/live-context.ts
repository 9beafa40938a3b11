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

/** The most bytes of all context files in one prompt, as in Codex. */
const MAX_BYTES = 32 * 1024;
/** Milliseconds between two checks of the files. */
const LOOK_AGAIN_MS = 2_000;

interface Loaded {
  readonly context: ProjectContext | null;
  readonly looked: readonly string[];
  /** A fingerprint of the files, or null until they are checked again: computing it would delay the start. */
  readonly stamp: string | null;
}

/**
 * The context of each requested directory, read at the first request, and again when its files change.
 */
export class LiveContext implements ContextSource {
  readonly #options: ContextOptions;
  readonly #loaded = new Map<string, Loaded>();
  readonly #reported = new Set<string>();
  #lookedAt: number;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.#lookedAt = options.clock.monotonic();
  }

  of(cwd: string): ProjectContext | null {
    const known = this.#loaded.get(cwd) ?? this.#load(this.#around(cwd));
    this.#loaded.set(cwd, known);
    return known.context;
  }

  async refresh(): Promise<void> {
    const { clock, onNotice } = this.#options;
    const now = clock.monotonic();
    if (now - this.#lookedAt < LOOK_AGAIN_MS) return;
    this.#lookedAt = now;
    for (const [cwd, { context, looked, stamp }] of this.#loaded) {
      if (stampOf(looked) === stamp) continue;
      const loaded = this.#load(createSearchContext(cwd, this.#options.environment));
      this.#loaded.set(cwd, { ...loaded, stamp: stampOf(loaded.looked) });
      if (loaded.context?.id === context?.id) continue;
      onNotice(
        'context files have changed and were read again: tasks that begin now are given them',
      );
    }
  }

  /** Returns the search context of a directory. The one of the start is used again. */
  #around(cwd: string): SearchContext {
    const { around, environment } = this.#options;
    return cwd === around.cwd ? around : createSearchContext(cwd, environment);
  }

  #load(around: SearchContext): Loaded {
    const git = around.cwd === this.#options.around.cwd ? this.#options.git : null;
    const { files, looked, problems } = collectFiles({ ...this.#options, around });
    for (const problem of problems) this.#report(problem);
    if (files.length === 0 && git === null) return { context: null, looked, stamp: null };
    const fitted = fitFiles(files, MAX_BYTES);
    const cut = [
      ...fitted.files.filter(({ isCut }) => isCut).map(({ name }) => name),
      ...fitted.leftOut,
    ];
    if (cut.length > 0) {
      this.#report(
        `context files have more than ${MAX_BYTES} bytes together: cut or left out: ${cut.join(', ')}`,
      );
    }
    return {
      context: createProjectContext({ ...fitted, git }),
      looked,
      stamp: null,
    };
  }

  /** Reports a line once, however often the files are read. */
  #report(line: string): void {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#options.onNotice(line);
  }
}

function stampOf(paths: readonly string[]): string {
  return pathsFingerprint(paths);
}
