import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { rankPlaces } from '../../../src/tools/find-places/rank.ts';
import { openWorkspace } from '../../../src/tools/find-places/workspace-index.ts';
import { tempDirectory } from '../../sys/temp.ts';

/** By the clock of a task that looks much later, no file has changed just before. */
export const LATER = 3_600_000;

/** A directory with an index beside it. */
export class IndexWorld {
  readonly base = tempDirectory();
  readonly root = join(this.base, 'work');
  readonly indexDirectory = join(this.base, 'index');
  readonly progress: string[] = [];

  constructor() {
    mkdirSync(this.root);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
  }

  /** The file of the index. */
  kept(): string {
    return join(this.indexDirectory, this.entries()[0] ?? '');
  }

  entries(): readonly string[] {
    return readdirSync(this.indexDirectory);
  }

  /** The files of these paths as a corpus, at that time from now in milliseconds. */
  open(paths: readonly string[], { at = LATER, signal = new AbortController().signal } = {}) {
    return this.#open(paths, { at, signal, indexDirectory: this.indexDirectory });
  }

  /** What a question finds in them, with the index that is kept and without any. */
  async answers(question: string, paths: readonly string[]) {
    const signal = new AbortController().signal;
    const request = { question, kinds: new Set<never>(), paths: [] };
    const warm = await rankPlaces(request, await this.open(paths));
    const cold = await this.#open(paths, { at: LATER, signal, indexDirectory: null });
    return { warm, cold: await rankPlaces(request, cold) };
  }

  #open(
    paths: readonly string[],
    options: {
      readonly at: number;
      readonly signal: AbortSignal;
      readonly indexDirectory: string | null;
    },
  ) {
    const { root } = this;
    return openWorkspace(
      { directory: root, roots: [root], accepts: () => true, nameGlobs: [] },
      paths,
      {
        indexDirectory: options.indexDirectory,
        context: {
          signal: options.signal,
          clock: { ...systemClock, now: () => Date.now() + options.at },
          progress: (line) => void this.progress.push(line),
        },
      },
    );
  }
}
