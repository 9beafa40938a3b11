import ignore, { type Ignore } from 'ignore';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isRepositoryTop, repositoryTop } from './repository.ts';
import { NEVER_SEARCHED } from './search-types.ts';

/** Strongest first: what an earlier kind says about a path, a later one cannot change. */
const IGNORE_FILES = ['.rgignore', '.ignore', '.gitignore'] as const;
const GIT_FILE = IGNORE_FILES.indexOf('.gitignore');
const MAX_IGNORE_BYTES = 1024 * 1024;
/** A name that no rule is about. */
const ANY_NAME = '\u0001any';

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
    const rules = IgnoreRules.#above(directory, repository);
    // It was named although it is ignored: what is above it has no say about what is in it.
    return rules.#leavesOut(directory)
      ? IgnoreRules.#none(repository).#with(directory)
      : rules.enter(directory);
  }

  /** Whether the ignore files above a directory leave it out, or all that could be in it. */
  static leaveOut(directory: string): boolean {
    return IgnoreRules.#above(directory, repositoryTop(directory)).#leavesOut(directory);
  }

  /** Whether ignore files leave out a path below a directory that is itself searched. */
  static ignoreBelow(
    directory: string,
    path: string,
    kind: { readonly isDirectory: boolean },
  ): boolean {
    let rules = IgnoreRules.at(directory);
    const names = path.split('/');
    for (const [index, name] of names.entries()) {
      const isDirectory = index < names.length - 1 || kind.isDirectory;
      const at = join(directory, ...names.slice(0, index + 1));
      if (name === NEVER_SEARCHED || rules.ignores(at, { isDirectory })) return true;
      if (isDirectory) rules = rules.enter(at);
    }
    return false;
  }

  static #above(directory: string, repository: string | undefined): IgnoreRules {
    const top = repository ?? directory;
    const above: string[] = [];
    for (let at = directory; at !== top; at = dirname(at)) above.unshift(dirname(at));
    let rules = IgnoreRules.#none(repository);
    for (const outer of above) rules = rules.#with(outer);
    return rules;
  }

  static #none(repository: string | undefined): IgnoreRules {
    return new IgnoreRules(
      IGNORE_FILES.map(() => []),
      repository !== undefined,
    );
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

  #leavesOut(directory: string): boolean {
    if (this.#levels.every((kind) => kind.length === 0)) return false;
    // `dist/*` ignores whatever could be in it; `*` with `!*/` only files of other kinds.
    const anything = join(directory, ANY_NAME);
    return (
      this.ignores(directory, { isDirectory: true }) ||
      (this.ignores(anything, { isDirectory: false }) &&
        this.ignores(anything, { isDirectory: true }))
    );
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
