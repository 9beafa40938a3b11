import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import { findAnswerFlags, findUntouchedPaths } from '../../receipts/answer-flags.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskEnding } from '../task/endings.ts';
import { foldLog } from '../task/fold-log.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * Finds the claims of an answer that the log does not support. An error in this check is reported, and there are no
 * flags.
 */
export async function determineFlags(
  deps: EngineDeps,
  { spec, state }: TaskRun,
  ending: TaskEnding,
): Promise<readonly ClaimFlag[]> {
  if (deps.flags !== undefined) return deps.flags();
  if (state.activation.compacts !== null) return state.activation.compacts.claims;
  try {
    const { reused } = state;
    // The answer is that of an earlier task, so the flags in the log of that task apply.
    if (reused !== null)
      return deps.store.exists(reused.of) ? foldLog(deps.store, reused.of).activation.claims : [];
    const paths = findUntouchedPaths(state, ending.result);
    const areMissing = await Promise.all(paths.map((path) => isMissing(resolve(spec.cwd, path))));
    const missingPaths = paths.filter((_, index) => areMissing[index]);
    return findAnswerFlags(state, ending, missingPaths);
  } catch (thrown) {
    deps.onFault(spec.id, thrown);
    return [];
  }
}

/** Returns true if nothing exists at a path. Returns false if that can't be determined. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    return code === 'ENOENT' || code === 'ENOTDIR';
  }
}
