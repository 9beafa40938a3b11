import { confirmEntries, confirmHits } from './confirm-hits.ts';
import { HitCollector } from './ripgrep-output.ts';
import { parentIgnoreArguments } from './parent-ignore-files.ts';
import { patternError } from './pattern-error.ts';
import { ripgrepPath, runRipgrep, type RipgrepRun } from './ripgrep-process.ts';
import { readUtf32 } from './decode-text.ts';
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
 * Lists the files of a scope that its filter accepts, in no order. Ignore files are honoured unless the scope says
 * otherwise; links are not followed. Throws MusterError where ripgrep cannot be run, and CANCELLED at the signal.
 */
export async function listFilesInScope(
  scope: SearchScope,
  limits: ListLimits,
): Promise<ListResult> {
  const paths: string[] = [];
  const run = await runRipgrep(
    await ripgrepPath(),
    ['--files', '--null', ...scopeArguments(scope)],
    {
      cwd: scope.directory,
      separator: '\0',
      timeMs: limits.timeMs,
      signal: limits.signal,
      onRecord: (record) => {
        const path = record.replace(/^\.\//, '');
        if (scope.accepts(path)) paths.push(path);
        return paths.length < limits.maxFiles;
      },
    },
  );
  return {
    paths,
    ...whyStopped(run, paths.length >= limits.maxFiles),
    ...unreadableField(confirmEntries(unreadableIn(run.stderr), scope)),
  };
}

/**
 * Searches the files of a scope with ripgrep's linear regex engine. Throws MusterError INVALID_PARAM for a pattern
 * that cannot be used, CANCELLED at the signal, and INTERNAL_ERROR where ripgrep cannot be run.
 */
export async function searchFilesInScope(
  query: SearchQuery,
  scope: SearchScope,
  limits: SearchLimits,
): Promise<SearchResult> {
  const collector = new HitCollector(scope, limits);
  // ripgrep would take UTF-32 for UTF-16, so it gets the decoded text.
  const input = readUtf32(scope);
  const where = input === undefined ? scopeArguments(scope) : ['--', '-'];
  const args = [...searchArguments(query, scope, limits), ...where];
  const run = await runRipgrep(await ripgrepPath(), args, {
    cwd: scope.directory,
    separator: '\n',
    ...(input === undefined ? {} : { input }),
    timeMs: limits.timeMs,
    signal: limits.signal,
    onRecord: (record) => collector.take(record),
  });
  const full = collector.isFull;
  // With a pattern that it cannot use, ripgrep never begins to search and writes no summary.
  if (run.exitCode === 2 && !collector.hasSummary && !full) throw patternError(run.stderr, query);
  const lossy = collector.files.map(({ path }) => path).filter(isLossyName);
  return {
    files: await confirmHits(collector.files, scope, limits.signal),
    ...whyStopped(run, full),
    ...unreadableField(confirmEntries([...unreadableIn(run.stderr), ...lossy], scope)),
  };
}

const UNREADABLE =
  /^rg: (.+?)(?:: IO error for operation on \1)?: Permission denied \(os error \d+\)$/;

/** The paths that ripgrep was not allowed to open, from what it wrote to stderr. */
function unreadableIn(stderr: string): readonly string[] {
  return stderr
    .split('\n')
    .flatMap((line) => UNREADABLE.exec(line)?.[1] ?? [])
    .map((path) => path.replace(/^\.\//, '') || '.');
}

function whyStopped(run: RipgrepRun, full: boolean): { readonly stopped?: 'limit' | 'time' } {
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
    ...(scope.includesIgnored === true ? ['--no-ignore'] : parentIgnoreArguments(scope.directory)),
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
