import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyAgentTree, overlay, restoreProtected } from './copy-tree.ts';
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

/**
 * Judges what an agent left: on a clean copy of its tree, with the protected files as they were and the hidden files laid
 * over, the hidden check has to exit with 0.
 *
 * @param tree the directory that the agent left
 * @param judged the directory of the copy, which is replaced
 */
export async function judge(
  task: EvalTask,
  checker: Checker,
  { tree, judged }: { readonly tree: string; readonly judged: string },
): Promise<ProgramEnd> {
  const original = join(task.directory, 'repo');
  rmSync(judged, { recursive: true, force: true });
  copyAgentTree(tree, judged, original);
  restoreProtected(judged, original, task.protected);
  overlay(judged, join(task.directory, 'hidden'));
  return checker.run(task.hiddenCheck, judged, task.checkSeconds);
}
