import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { listNames } from '../../base/text.ts';
import type { Environment } from '../env.ts';
import { buildGitEnvironment } from './git-environment.ts';
import { stdioWithoutInherited } from '../processes/inherited-descriptors.ts';
import { registerForShutdown } from '../processes/process-group.ts';
import { sendSignal } from '../processes/send-signal.ts';
import { findTrustedProgram } from '../processes/find-program.ts';
import { findUnsafeSetting } from './config-check.ts';
import { readGitFile } from './read-git-file.ts';
import { findRepository } from './repository.ts';
import { parseGitStatus, type GitStatus } from './status.ts';

/** The state of a repository at one moment. */
export interface GitSnapshot extends GitStatus {
  /** The top directory of the working tree, to which the paths of the changes are relative. Absolute. */
  readonly top: string;
  /** Recent commits, newest first. Each is an abbreviated hash, a space and the subject. */
  readonly commits: readonly string[];
}

/** Options for `takeGitSnapshot`. */
export interface GitSnapshotOptions {
  readonly environment: Environment;
  /** The time limit in milliseconds. Default: 50. */
  readonly withinMs?: number;
}

const DEFAULT_TIMEOUT_MS = 50;
/** The maximum output of git. A longer status is of no use. */
const MAX_BYTES = 1024 * 1024;
const MAX_HEAD_BYTES = 4096;

/**
 * Runs both commands at the same time with one process start. The log is written to stderr, the status to stdout.
 * Neither command reads submodules, because their configuration is not checked.
 */
const SCRIPT = `"$0" --no-pager log --max-count=3 --no-show-signature --no-color --no-decorate --format='%h %s' >&2 2>/dev/null &
"$0" status --porcelain=v1 --branch -z --ignore-submodules=dirty 2>/dev/null
wait`;

/** Settings that cannot affect the two commands: the environment overrides them, or they concern submodules. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  listNames(`
    core.fsmonitor core.hookspath core.worktree core.pager core.editor extensions.worktreeconfig
    extensions.objectformat submodule.active submodule.url
  `),
);

/**
 * Reads the state of the repository of a directory (absolute, without links). Returns null if there is no repository,
 * if git is missing or fails, if the configuration may run programs or redirect git, or if the time limit passes.
 * Starts no process if there is no repository. Never rejects.
 */
export async function takeGitSnapshot(
  directory: string,
  { environment, withinMs = DEFAULT_TIMEOUT_MS }: GitSnapshotOptions,
): Promise<GitSnapshot | null> {
  const repository = findRepository(directory);
  if (repository === undefined || findUnsafeSetting(repository, WITHOUT_EFFECT) !== undefined) {
    return null;
  }
  const { top, gitDirectory } = repository;
  if (!(readGitFile(join(gitDirectory, 'HEAD'), MAX_HEAD_BYTES) instanceof Buffer)) return null;
  const git = findTrustedProgram('git', environment['PATH'] ?? '', [top]);
  if (git === undefined) return null;
  const output = await run(git, {
    cwd: top,
    env: buildSnapshotEnvironment(top, environment),
    withinMs,
  });
  const status = output === null ? null : parseGitStatus(output.status);
  if (output === null || status === null) return null;
  const commits = output.log.split('\n').filter((line) => line !== '');
  return { top, ...status, commits };
}

/**
 * Builds an environment that limits git to this repository and contains none of the user's variables that could
 * redirect git.
 */
function buildSnapshotEnvironment(top: string, environment: Environment): Environment {
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

interface GitOutput {
  readonly status: string;
  readonly log: string;
}

/** Runs the script. Returns null if git could not be started, or wrote too much or took too long and was killed. */
function run(git: string, { cwd, env, withinMs }: RunOptions): Promise<GitOutput | null> {
  const child = start(git, cwd, env);
  if (child === null) return Promise.resolve(null);
  const kill = (): void => {
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
  };
  return new Promise((resolve) => {
    let hasEnded = false;
    const end = (output: GitOutput | null): void => {
      hasEnded = true;
      clearTimeout(timer);
      unregister();
      resolve(output);
    };
    const giveUp = (): void => {
      if (hasEnded) return;
      kill();
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      end(null);
    };
    const unregister = registerForShutdown(async () => kill());
    // Output that arrived while this process was busy is handled before the time limit.
    const timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), withinMs);
    const status = collect(child.stdout, giveUp);
    const log = collect(child.stderr, giveUp);
    child.once('error', () => end(null));
    child.once('close', () => end({ status: status(), log: log() }));
  });
}

/** Starts the script. Returns null if the system cannot start another process. */
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

/** Collects the output of a pipe. Returns a function that returns the output that has been read. */
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
