import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { listNames } from '../../base/text.ts';
import type { Environment } from '../env.ts';
import { buildGitEnvironment } from './git-environment.ts';
import { stdioWithoutInherited } from '../processes/inherited-descriptors.ts';
import { registerForShutdown, sendSignal } from '../processes/process-group.ts';
import { findTrustedProgram } from '../processes/find-program.ts';
import { findUnsafeSetting } from './config-check.ts';
import { readGitFile } from './read-git-file.ts';
import { findRepository } from './repository.ts';
import { parseGitStatus, type GitStatus } from './status.ts';

/** The state of a repository at one moment. */
export interface GitSnapshot extends GitStatus {
  /** The top of the repository, from which its paths begin. Absolute. */
  readonly top: string;
  /** Recent commits, newest first: an abbreviated hash, a space, the subject. */
  readonly commits: readonly string[];
}

/** Options for `takeGitSnapshot`. */
export interface GitSnapshotOptions {
  readonly environment: Environment;
  /** The time limit in milliseconds. Default: 50. */
  readonly withinMs?: number;
}

const WITHIN_MS = 50;
/** The maximum output of git. A longer status is of no use. */
const MAX_BYTES = 1024 * 1024;
const MAX_HEAD_BYTES = 4096;

/**
 * Runs both commands at once with one process start: the log goes to the second pipe. Neither looks into
 * submodules, whose configuration is not checked.
 */
const SCRIPT = `"$0" --no-pager log --max-count=3 --no-show-signature --no-color --no-decorate --format='%h %s' >&2 2>/dev/null &
"$0" status --porcelain=v1 --branch -z --ignore-submodules=dirty 2>/dev/null
wait`;

/** Settings without an effect here: the environment overrides them, or they concern submodules. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  listNames(`
    core.fsmonitor core.hookspath core.worktree core.pager core.editor extensions.worktreeconfig
    extensions.objectformat submodule.active submodule.url
  `),
);

/**
 * Reads the state of the repository of a directory (absolute, real). Returns null if there is no repository,
 * git is missing or fails, its configuration may run programs or redirect git, or the time limit passes. Starts
 * no process if there is no repository. Never rejects.
 */
export async function takeGitSnapshot(
  directory: string,
  { environment, withinMs = WITHIN_MS }: GitSnapshotOptions,
): Promise<GitSnapshot | null> {
  const repository = findRepository(directory);
  if (repository === undefined || findUnsafeSetting(repository, WITHOUT_EFFECT) !== undefined) {
    return null;
  }
  const { top, gitDirectory } = repository;
  if (!(readGitFile(join(gitDirectory, 'HEAD'), MAX_HEAD_BYTES) instanceof Buffer)) return null;
  const git = findTrustedProgram('git', environment['PATH'] ?? '', [top]);
  if (git === undefined) return null;
  const said = await run(git, { cwd: top, env: environmentFor(top, environment), withinMs });
  const status = said === null ? null : parseGitStatus(said.status);
  if (said === null || status === null) return null;
  const commits = said.log.split('\n').filter((line) => line !== '');
  return { top, ...status, commits };
}

/**
 * Builds an environment without the user's variables that could redirect git, and limits git to this
 * repository.
 */
function environmentFor(top: string, environment: Environment): Environment {
  const kept = ['HOME', 'XDG_CONFIG_HOME', 'PATH'].flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    ...buildGitEnvironment({ access: 'read-only', confined: false }),
    GIT_CEILING_DIRECTORIES: dirname(top),
    GIT_WORK_TREE: top,
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    LC_ALL: 'C',
  };
}

interface RunOptions {
  readonly cwd: string;
  readonly env: Environment;
  readonly withinMs: number;
}

interface Said {
  readonly status: string;
  readonly log: string;
}

/** Returns null if git could not be started, wrote too much or took too long; its processes are then killed. */
function run(git: string, { cwd, env, withinMs }: RunOptions): Promise<Said | null> {
  const child = start(git, cwd, env);
  if (child === null) return Promise.resolve(null);
  const kill = (): void => {
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
  };
  return new Promise((resolve) => {
    let hasEnded = false;
    const end = (said: Said | null): void => {
      hasEnded = true;
      clearTimeout(timer);
      forget();
      resolve(said);
    };
    const giveUp = (): void => {
      if (hasEnded) return;
      kill();
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      end(null);
    };
    const forget = registerForShutdown(async () => kill());
    // Output that arrived while this process was busy is handled before the time limit.
    const timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), withinMs);
    const status = collect(child.stdout, giveUp);
    const log = collect(child.stderr, giveUp);
    child.once('error', () => end(null));
    child.once('close', () => end({ status: status(), log: log() }));
  });
}

/** Returns null if the system cannot start another process. */
function start(git: string, cwd: string, env: Environment): ChildProcess | null {
  try {
    return spawn('/bin/sh', ['-c', SCRIPT, git], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', ...stdioWithoutInherited()],
    });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return null;
  }
}

/** Collects the output of a pipe. Returns a function that gives the output so far. */
function collect(pipe: NodeJS.ReadableStream | null, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  pipe?.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MAX_BYTES) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
