import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { startDeadline } from '../../base/deadlines.ts';
import { systemErrorCode, errorMessage, MusterError } from '../../base/errors.ts';
import { registerForShutdown } from '../../sys/processes/process-group.ts';
import { confirmEntries, confirmHits } from './confirm-hits.ts';
import { readUtf32 } from './decode-text.ts';
import { patternError } from './pattern-error.ts';
import { HitCollector } from './ripgrep-output.ts';
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
function parentIgnoreArguments(directory: string): readonly string[] {
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

/** How a run of ripgrep ended. Its records were passed to `onRecord` as they came. */
interface RipgrepRun {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** How ripgrep is run and what takes its output. */
interface RipgrepOptions {
  readonly cwd: string;
  /** The character that ends each record. */
  readonly separator: '\n' | '\0';
  /** Text for its standard input. */
  readonly input?: string;
  readonly timeMs: number;
  readonly signal: AbortSignal;
  /** Takes one record. Returns false to stop ripgrep because no more are needed. */
  readonly onRecord: (record: string) => boolean;
}

const MAX_STDERR = 65_536;

/** The error for a ripgrep that is missing, could not be started, or crashed. */
function ripgrepError(reason: string, cause?: unknown): MusterError {
  const message = `Files cannot be searched or listed, because ripgrep cannot be run: ${reason}. Install Muster again with its optional dependencies (npm install -g --include=optional muster-agent); \`muster doctor\` checks the result.`;
  return new MusterError('INTERNAL_ERROR', message, { cause });
}

/** Returns the path of the bundled binary. Throws MusterError when the package for this platform is not installed. */
async function ripgrepPath(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (thrown) {
    throw ripgrepError(errorMessage(thrown).replace(/\.$/, ''), thrown);
  }
}

/**
 * Runs ripgrep without the user's configuration and environment. Killing it is enough to stop it, because it starts
 * no processes of its own. Throws MusterError when it cannot be started or crashes, and CANCELLED at the signal.
 */
export function runRipgrep(
  binary: string,
  args: readonly string[],
  options: RipgrepOptions,
): Promise<RipgrepRun> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(binary, ['--no-config', ...args], {
      cwd: options.cwd,
      env: {},
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    // Without free file descriptors, spawn returns a failed child that has no pipes; then only this handler runs.
    child.once('error', (thrown) => reject(ripgrepError(errorMessage(thrown), thrown)));
    if (!child.stdout || !child.stderr) return;
    // A broken pipe means that ripgrep has ended, which `close` reports.
    child.stdin?.once('error', () => {}).end(options.input);
    let timedOut = false;
    let stderr = '';
    let rest = '';
    let enough = false;
    const stop = (): boolean => child.kill('SIGKILL');
    const limit = startDeadline(options.timeMs, () => {
      timedOut = true;
      stop();
    });
    options.signal.addEventListener('abort', stop);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (stderr.length < MAX_STDERR) stderr += text;
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (enough) return;
      const records = (rest + text).split(options.separator);
      rest = records.pop() ?? '';
      enough = !records.every((record) => options.onRecord(record));
      if (enough) stop();
    });
    const forget = registerForShutdown(async () => stop());
    const settle = (): void => {
      forget();
      limit.cancel();
      options.signal.removeEventListener('abort', stop);
    };
    child.once('error', settle);
    child.once('close', (exitCode, signal) => {
      settle();
      if (options.signal.aborted) reject(new MusterError('CANCELLED', 'The search was cancelled.'));
      else if (exitCode === null && !enough && !timedOut) {
        reject(ripgrepError(['it was ended by', signal, stderr].join(' ').trim()));
      } else resolve({ exitCode, stderr, timedOut });
    });
  });
}
