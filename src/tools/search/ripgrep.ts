import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { systemErrorCode } from '../../base/errors.ts';
import { confirmEntries, confirmHits } from './confirm-hits.ts';
import { readUtf32 } from './decode-text.ts';
import { patternError } from './pattern-error.ts';
import { HitCollector } from './ripgrep-output.ts';
import { runRipgrep, type RipgrepRun } from './run-ripgrep.ts';
import {
  isLossyName,
  MAX_SEARCHED_BYTES,
  NEVER_SEARCHED,
  unreadableField,
  type ListLimits,
  type ListResult,
  type SearchLimits,
  type SearchQuery,
  type SearchResult,
  type SearchScope,
} from './search-types.ts';

/**
 * Lists the files of a scope that its filter accepts, in no particular order. Ignore files apply unless the scope says
 * otherwise. Links are not followed. Throws MusterError if ripgrep cannot be run, and CANCELLED if the signal is
 * aborted.
 */
export async function listFilesInScope(
  scope: SearchScope,
  limits: ListLimits,
): Promise<ListResult> {
  const paths: string[] = [];
  const run = await runRipgrep(['--files', '--null', ...scopeArguments(scope)], {
    cwd: scope.directory,
    separator: '\0',
    timeMs: limits.timeMs,
    signal: limits.signal,
    onRecord: (record) => {
      const path = record.replace(/^\.\//, '');
      if (scope.accepts(path)) paths.push(path);
      return paths.length < limits.maxFiles;
    },
  });
  return {
    paths,
    ...stoppedField(run, paths.length >= limits.maxFiles),
    ...unreadableField(confirmEntries(parseUnreadablePaths(run.stderr), scope)),
  };
}

/**
 * Searches the files of a scope with ripgrep's linear regex engine. Throws MusterError INVALID_PARAM for a pattern that
 * cannot be used, CANCELLED if the signal is aborted, and INTERNAL_ERROR if ripgrep cannot be run.
 */
export async function searchFilesInScope(
  query: SearchQuery,
  scope: SearchScope,
  limits: SearchLimits,
): Promise<SearchResult> {
  const collector = new HitCollector(scope, limits);
  // ripgrep would read UTF-32 as UTF-16, so it gets the decoded text.
  const input = readUtf32(scope);
  const where = input === undefined ? scopeArguments(scope) : ['--', '-'];
  const args = [...searchArguments(query, scope, limits), ...where];
  const startedAt = Date.now();
  const run = await runRipgrep(args, {
    cwd: scope.directory,
    separator: '\n',
    input,
    timeMs: limits.timeMs,
    signal: limits.signal,
    onRecord: (record) => collector.readRecord(record),
  });
  const full = collector.isFull;
  // If ripgrep cannot use the pattern, it does not begin to search and writes no summary.
  if (run.exitCode === 2 && !collector.hasSummary && !full) throw patternError(run.stderr, query);
  const lossy = collector.files.map(({ path }) => path).filter(isLossyName);
  return {
    files: await confirmHits(collector.files, scope, { startedAt, signal: limits.signal }),
    ...stoppedField(run, full),
    ...unreadableField(confirmEntries([...parseUnreadablePaths(run.stderr), ...lossy], scope)),
  };
}

const UNREADABLE_PATH =
  /^rg: (.+?)(?:: IO error for operation on \1)?: Permission denied \(os error \d+\)$/;

/** Returns the paths that ripgrep was not allowed to open, from its messages on stderr. */
function parseUnreadablePaths(stderr: string): readonly string[] {
  return stderr
    .split('\n')
    .flatMap((line) => UNREADABLE_PATH.exec(line)?.[1] ?? [])
    .map((path) => path.replace(/^\.\//, '') || '.');
}

function stoppedField(run: RipgrepRun, full: boolean): { readonly stopped?: 'limit' | 'time' } {
  if (full) return { stopped: 'limit' };
  return run.timedOut ? { stopped: 'time' } : {};
}

function scopeArguments(scope: SearchScope): string[] {
  const types = scope.nameGlobs.flatMap((glob) => ['--type-add', `muster:${glob}`]);
  return [
    '--hidden',
    '--no-ignore-messages',
    '--no-ignore-global',
    '--no-ignore-exclude',
    ...(scope.includesIgnored === true
      ? ['--no-ignore']
      : createParentIgnoreArguments(scope.directory)),
    `--glob=!${NEVER_SEARCHED}`,
    ...types,
    ...(types.length > 0 ? ['--type', 'muster'] : []),
    '--',
    scope.file === undefined ? './' : `./${scope.file}`,
  ];
}

function searchArguments(query: SearchQuery, scope: SearchScope, limits: SearchLimits): string[] {
  return [
    '--json',
    '--engine=default',
    '--sort=path',
    '--crlf',
    ...(scope.file !== undefined || scope.includesBinary === true ? ['--text'] : []),
    `--max-filesize=${MAX_SEARCHED_BYTES}`,
    `--max-count=${limits.maxMatchesPerFile}`,
    `--before-context=${query.before}`,
    `--after-context=${query.after}`,
    query.ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(query.multiline ? ['--multiline', '--multiline-dotall'] : []),
    `--regexp=${query.pattern}`,
  ];
}

/**
 * The kinds of ignore files in descending order of precedence. A later kind cannot change what an earlier kind says
 * about a path.
 */
const IGNORE_FILES = ['.rgignore', '.ignore', '.gitignore'] as const;
const MAX_IGNORE_BYTES = 1024 * 1024;
/** A name that no rule of an ignore file mentions, which stands for any file. */
const UNMENTIONED_NAME = '\u0001any';

/**
 * Returns the arguments that tell ripgrep whether the ignore files above the searched directory apply to it. Those up
 * to the root of the git repository apply, unless they ignore the searched directory itself. The call names this
 * directory although it is ignored, so only the ignore files inside it apply. Outside of a repository, no ignore file
 * above the directory applies, because ripgrep would search for them up to the root of the disk.
 */
function createParentIgnoreArguments(directory: string): readonly string[] {
  const root = findRepositoryRoot(directory);
  if (root === directory) return [];
  return root === undefined || isIgnoredFromAbove(directory, root)
    ? ['--no-require-git', '--no-ignore-parent']
    : [];
}

/** Returns the root of the git repository that contains a directory, or undefined if there is none. */
function findRepositoryRoot(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

interface IgnoreFile {
  readonly directory: string;
  readonly rules: Ignore;
}

/**
 * Returns whether the ignore files above a directory, up to `root`, ignore the directory or everything that it could
 * contain.
 */
function isIgnoredFromAbove(directory: string, root: string): boolean {
  const files = readIgnoreFilesAbove(directory, root);
  const unmentioned = join(directory, UNMENTIONED_NAME);
  // `dist/*` ignores everything that could be in dist; `*` with `!*/` ignores only files.
  return (
    isIgnored(`${directory}/`, files) ||
    (isIgnored(unmentioned, files) && isIgnored(`${unmentioned}/`, files))
  );
}

/** Reads the ignore files above a directory, up to `root`, in descending order of precedence. */
function readIgnoreFilesAbove(directory: string, root: string): readonly IgnoreFile[] {
  const parents: string[] = [];
  for (let at = directory; at !== root; at = dirname(at)) parents.push(dirname(at));
  return IGNORE_FILES.flatMap((name) =>
    parents.flatMap((parent) => {
      const text = readIgnoreFile(join(parent, name));
      return text === undefined ? [] : [{ directory: parent, rules: ignore().add(text) }];
    }),
  );
}

/** Returns whether ignore files ignore a path. A path of a directory must end with a slash. */
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
    // Reading a pipe with this name would wait forever.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_IGNORE_BYTES) return undefined;
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    // An ignore file that cannot be read has no effect.
    if (systemErrorCode(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
