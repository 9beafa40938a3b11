import ignore, { type Ignore } from 'ignore';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isRepositoryTop, repositoryTop } from './repository.ts';

/** Strongest first: what an earlier kind says about a path, a later one cannot change. */
const IGNORE_FILES = ['.rgignore', '.ignore', '.gitignore'] as const;
const GIT_FILE = IGNORE_FILES.indexOf('.gitignore');
const MAX_IGNORE_BYTES = 1024 * 1024;

interface Level {
  readonly directory: string;
  readonly rules: Ignore;
}

/**
 * The ignore files that hold in a directory: its own and those above it, up to the top of its git
 * repository (outside of one, only those from the searched directory down).
 */
export class IgnoreRules {
  /** One list a kind of file, innermost directory first. */
  readonly #levels: readonly (readonly Level[])[];
  readonly #inRepository: boolean;

  private constructor(levels: readonly (readonly Level[])[], inRepository: boolean) {
    this.#levels = levels;
    this.#inRepository = inRepository;
  }

  static at(directory: string): IgnoreRules {
    const repository = repositoryTop(directory);
    const top = repository ?? directory;
    const above: string[] = [];
    for (let at = directory; at !== top; at = dirname(at)) above.unshift(dirname(at));
    let rules = new IgnoreRules(
      IGNORE_FILES.map(() => []),
      repository !== undefined,
    );
    for (const outer of above) rules = rules.#with(outer);
    return rules.enter(directory);
  }

  /** The rules inside a directory that is itself not ignored. */
  enter(directory: string): IgnoreRules {
    // It is searched although an outer file may say otherwise (it was named, or an inner file takes
    // it back): such a file has no say about what is inside.
    const levels = this.#levels.map((kind) =>
      kind.filter((level) => !level.rules.ignores(`${relative(level.directory, directory)}/`)),
    );
    // A repository inside a repository: git files outside are about the outer one.
    if (this.#inRepository && isRepositoryTop(directory)) levels[GIT_FILE] = [];
    return new IgnoreRules(levels, this.#inRepository).#with(directory);
  }

  ignores(path: string, kind: { readonly isDirectory: boolean }): boolean {
    for (const levels of this.#levels) {
      for (const { directory, rules } of levels) {
        const test = rules.test(relative(directory, path) + (kind.isDirectory ? '/' : ''));
        if (test.ignored) return true;
        if (test.unignored) return false;
      }
    }
    return false;
  }

  #with(directory: string): IgnoreRules {
    const levels = this.#levels.map((kind, index) => {
      const text = readRules(join(directory, IGNORE_FILES[index] ?? ''));
      return text === undefined ? kind : [{ directory, rules: ignore().add(text) }, ...kind];
    });
    return new IgnoreRules(levels, this.#inRepository);
  }
}

function readRules(path: string): string | undefined {
  try {
    // A pipe of that name would be waited for without end.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_IGNORE_BYTES) return undefined;
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    // Most directories have none; one that cannot be read cannot hide anything.
    if (systemErrorCode(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
