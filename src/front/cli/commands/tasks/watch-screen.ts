import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import { createMuster } from '../../../../api/muster.ts';
import { systemErrorCode } from '../../../../base/errors.ts';
import { TASK_VARIABLE } from '../../../../sys/command-environment.ts';
import { readEnvironment } from '../../../../sys/env.ts';

/** Whether `muster tasks watch ID` has a screen to show it on; an agent, which may have one, gets lines. */
export function hasScreen(): boolean {
  const environment = readEnvironment();
  if (environment['TERM'] === 'dumb' || environment[TASK_VARIABLE] !== undefined) return false;
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** `muster tasks watch ID` on a terminal: the screen that the process shows which runs the task. */
export async function watchOnScreen(
  tasks: Tasks,
  { id, dataDir }: { readonly id: string; readonly dataDir: string | null },
): Promise<number> {
  const { spec } = tasks.state(id);
  const [muster, { runWatch }] = await Promise.all([
    createMuster({
      cwd: isDirectory(spec.cwd) ? spec.cwd : resolve('.'),
      ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
      questions: 'wait',
      // Nothing is set to work in it: what a start would have to say is of no use here.
      preload: false,
    }),
    import('../../../tui/watch/run-watch.ts'),
  ]);
  try {
    return await runWatch({ id: spec.id, muster, tasks });
  } finally {
    await muster.close();
  }
}

/** The task may have worked elsewhere, or what it worked in may be gone. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return false;
  }
}
