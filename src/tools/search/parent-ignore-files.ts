import ignore, { type Ignore } from 'ignore';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';

/** Strongest first: what one kind of ignore file says about a path, a later kind cannot change. */
const IGNORE_FILES = ['.rgignore', '.ignore', '.gitignore'] as const;
const MAX_IGNORE_BYTES = 1024 * 1024;
/** A name that no rule mentions. */
const UNMENTIONED_NAME = '\u0001any';

/**
 * The arguments that tell ripgrep whether ignore files above the searched directory hold in it. They hold up to
 * the top of the git repository, unless they leave out the directory itself: that was named although it is
 * ignored, so only the ignore files inside it count. Outside of a repository none of them hold, because ripgrep
 * would look for them up to the root of the disk.
 */
export function parentIgnoreArguments(directory: string): readonly string[] {
  const top = repositoryTop(directory);
  if (top === directory) return [];
  return top === undefined || isIgnoredFromAbove(directory, top)
    ? ['--no-require-git', '--no-ignore-parent']
    : [];
}

/** The nearest directory, from this one up, that is the top of a git repository. */
function repositoryTop(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

interface IgnoreFile {
  readonly directory: string;
  readonly rules: Ignore;
}

/** Whether the ignore files above a directory, up to `top`, leave out the directory or all that could be in it. */
function isIgnoredFromAbove(directory: string, top: string): boolean {
  const files = ignoreFilesAbove(directory, top);
  const unmentioned = join(directory, UNMENTIONED_NAME);
  // `dist/*` ignores everything that could be in dist; `*` with `!*/` ignores only files.
  return (
    isIgnored(`${directory}/`, files) ||
    (isIgnored(unmentioned, files) && isIgnored(`${unmentioned}/`, files))
  );
}

/** The ignore files that hold in the parent directory, the strongest first. */
function ignoreFilesAbove(directory: string, top: string): readonly IgnoreFile[] {
  const parents: string[] = [];
  for (let at = directory; at !== top; at = dirname(at)) parents.push(dirname(at));
  return IGNORE_FILES.flatMap((name) =>
    parents.flatMap((parent) => {
      const text = readIgnoreFile(join(parent, name));
      return text === undefined ? [] : [{ directory: parent, rules: ignore().add(text) }];
    }),
  );
}

/** Whether ignore files leave out a path; a slash at its end says that it is a directory. */
function isIgnored(path: string, files: readonly IgnoreFile[]): boolean {
  const slash = path.endsWith('/') ? '/' : '';
  for (const { directory, rules } of files) {
    const { ignored, unignored } = rules.test(relative(directory, path) + slash);
    if (ignored || unignored) return ignored;
  }
  return false;
}

function readIgnoreFile(path: string): string | undefined {
  try {
    // Reading a pipe of that name would wait forever.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_IGNORE_BYTES) return undefined;
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    // A file that cannot be read hides nothing.
    if (systemErrorCode(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
