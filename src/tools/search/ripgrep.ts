import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isNamedUtf32 } from './sniff.ts';
import { confirmEntries, confirmHits } from './confirm.ts';
import { foundLines, textOf } from './found-lines.ts';
import { patternError } from './pattern-error.ts';
import { repositoryTop } from './repository.ts';
import { ripgrepPath, runRipgrep, type RipgrepRun } from './ripgrep-process.ts';
import {
  BINARY_SAMPLE_BYTES,
  isLossyName,
  MAX_SEARCHED_BYTES,
  NEVER_SEARCHED,
  unreadableOf,
  type FileHits,
  type FoundLine,
  type ListResult,
  type SearchEngine,
  type SearchLimits,
  type SearchQuery,
  type SearchResult,
  type SearchScope,
} from './search-types.ts';

/** Search with ripgrep: its linear regex engine only, links not followed, ignore files honoured unless the scope says otherwise. */
export const ripgrep: SearchEngine = { list, search };

async function list(scope: SearchScope, limits: SearchLimits): Promise<ListResult> {
  const paths: string[] = [];
  const run = await runRipgrep(
    await ripgrepPath(),
    ['--files', '--null', ...(await scopeArgs(scope))],
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
    ...unreadableOf(confirmEntries(unreadableIn(run.stderr), scope)),
  };
}

async function search(
  query: SearchQuery,
  scope: SearchScope,
  limits: SearchLimits,
): Promise<SearchResult> {
  // ripgrep takes it for UTF-16.
  if (isNamedUtf32(scope)) {
    const { plainSearch } = await import('./plain-search.ts');
    return plainSearch.search(query, scope, limits);
  }
  const collector = new Collector(scope, limits);
  const args = [...searchArgs(query, scope, limits), ...(await scopeArgs(scope))];
  const run = await runRipgrep(await ripgrepPath(), args, {
    cwd: scope.directory,
    separator: '\n',
    timeMs: limits.timeMs,
    signal: limits.signal,
    onRecord: (record) => collector.take(record),
  });
  const full = collector.isFull;
  // With a pattern that it can't use it never begins, and has no summary at its end.
  if (run.exitCode === 2 && !collector.hasSummary && !full) throw patternError(run.stderr, query);
  const lossy = collector.files.map(({ path }) => path).filter(isLossyName);
  return {
    files: await confirmHits(collector.files, scope, limits.signal),
    ...whyStopped(run, full),
    ...unreadableOf(confirmEntries([...unreadableIn(run.stderr), ...lossy], scope)),
  };
}

const UNREADABLE =
  /^rg: (.+?)(?:: IO error for operation on \1)?: Permission denied \(os error \d+\)$/;

/** What it was refused, of all that it complains about. */
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

async function scopeArgs(scope: SearchScope): Promise<string[]> {
  const types = scope.nameGlobs.flatMap((glob) => ['--type-add', `muster:${glob}`]);
  return [
    '--hidden',
    '--no-ignore-messages',
    '--no-ignore-global',
    '--no-ignore-exclude',
    ...(await ignoreArgs(scope)),
    `--glob=!${NEVER_SEARCHED}`,
    ...types,
    ...(types.length > 0 ? ['--type', 'muster'] : []),
    '--',
    scope.file === undefined ? './' : `./${scope.file}`,
  ];
}

/** Which ignore files hold: those up to the top of the repository, unless they leave out what was named. */
async function ignoreArgs({ directory, includesIgnored }: SearchScope): Promise<readonly string[]> {
  if (includesIgnored === true) return ['--no-ignore'];
  const top = repositoryTop(directory);
  if (top === directory) return [];
  const { IgnoreRules } = await import('./ignore-rules.ts');
  // Outside of a repository ripgrep would look up to the root of the disk.
  return top === undefined || IgnoreRules.leaveOut(directory)
    ? ['--no-require-git', '--no-ignore-parent']
    : [];
}

function searchArgs(query: SearchQuery, scope: SearchScope, limits: SearchLimits): string[] {
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

/** Folds ripgrep's JSON lines to hits; a file counts when it has ended and turned out to be text. */
class Collector {
  readonly files: FileHits[] = [];
  hasSummary = false;
  readonly #scope: SearchScope;
  readonly #limits: SearchLimits;
  #matches = 0;
  #path = '';
  #accepted = false;
  #lines: FoundLine[] = [];
  #fileMatches = 0;

  constructor(scope: SearchScope, limits: SearchLimits) {
    this.#scope = scope;
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { maxFiles, maxMatches } = this.#limits;
    return this.files.length >= maxFiles || this.#matches >= maxMatches;
  }

  /** False: enough. */
  take(record: string): boolean {
    if (record === '') return true;
    const event: unknown = JSON.parse(record);
    if (!isJsonObject(event) || !isJsonObject(event['data'])) return true;
    const data = event['data'];
    switch (event['type']) {
      case 'begin':
        this.#begin(textOf(data['path']).replace(/^\.\//, ''));
        return true;
      case 'match':
        this.#fileMatches += 1;
        this.#add(data, { matches: true });
        return true;
      case 'context':
        this.#add(data, { matches: false });
        return true;
      case 'end':
        this.#end(data['binary_offset']);
        return !this.isFull;
      case 'summary':
        this.hasSummary = true;
        return true;
      default:
        return true;
    }
  }

  #begin(path: string): void {
    this.#path = path;
    this.#accepted = this.#scope.accepts(path);
    this.#lines = [];
    this.#fileMatches = 0;
  }

  #add(data: JsonObject, kind: { readonly matches: boolean }): void {
    const first = data['line_number'];
    if (!this.#accepted || typeof first !== 'number') return;
    this.#lines.push(...foundLines(data, { first, matches: kind.matches }));
  }

  #end(binaryOffset: JsonValue | undefined): void {
    const binary = typeof binaryOffset === 'number' && binaryOffset < BINARY_SAMPLE_BYTES;
    if (!this.#accepted || binary || this.#fileMatches === 0) return;
    this.#matches += this.#fileMatches;
    this.files.push({ path: this.#path, lines: this.#lines, matches: this.#fileMatches });
  }
}
