import { join } from 'node:path';
import { copyAgentTree, overlay, removeTree, restoreProtected } from './copy-tree.ts';
import { MUSTER } from './muster.ts';
import { checkEnvironment, type Place } from './place.ts';
import { runBounded, type ProgramEnd } from './processes.ts';
import type { EvalTask } from './tasks.ts';

/** Runs checks, in Muster's own sandbox where there is one. */
export interface Checker {
  readonly isSandboxed: boolean;
  run(command: string, cwd: string, seconds: number): Promise<ProgramEnd>;
}

const PROBE_SECONDS = 30;

/** Creates a checker. It finds out once whether this machine has a sandbox. */
export async function createChecker(place: Place): Promise<Checker> {
  const env = checkEnvironment(place);
  const data = join(place.checks, 'data');
  const sandboxed = (command: string): readonly [string, ...string[]] => [
    process.execPath,
    MUSTER,
    'sandbox',
    '--data-dir',
    data,
    '--',
    '/bin/sh',
    '-c',
    command,
  ];
  const probe = await runBounded({
    argv: sandboxed('exit 0'),
    cwd: place.work,
    env,
    timeoutMs: PROBE_SECONDS * 1000,
  });
  const isSandboxed = probe.exitCode === 0;
  return {
    isSandboxed,
    run: (command, cwd, seconds) =>
      runBounded({
        argv: isSandboxed ? sandboxed(command) : ['/bin/sh', '-c', command],
        cwd,
        env,
        timeoutMs: seconds * 1000,
      }),
  };
}

/** The directories of a task that is judged. */
export interface JudgedTrees {
  /** The directory that the agent left. */
  readonly tree: string;
  /** The directory of the clean copy, which is replaced. */
  readonly judged: string;
}

/** Makes the clean copy of what an agent left. Throws UnusableTreeError. */
export function copyForJudging(task: EvalTask, { tree, judged }: JudgedTrees): void {
  removeTree(judged);
  copyAgentTree(tree, judged, { original: join(task.directory, 'repo') });
}

/**
 * Judges what an agent left, on its clean copy: with the protected files as they were and the hidden files laid over, the
 * hidden check has to exit with 0.
 */
export async function judge(
  task: EvalTask,
  checker: Checker,
  { judged }: Pick<JudgedTrees, 'judged'>,
): Promise<ProgramEnd> {
  restoreProtected(judged, join(task.directory, 'repo'), task.protected);
  overlay(judged, join(task.directory, 'hidden'));
  return checker.run(task.hiddenCheck, judged, task.checkSeconds);
}
