import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses } from '../../src/sys/processes/process-table.ts';
import type { Finished, Sandbox } from '../e2e/muster.ts';
import { describe } from '../e2e/processes.ts';

/**
 * By then no process of an owner that is gone is left. Long, since on a busy machine a process takes seconds to
 * begin; what is left is there for 20 s.
 */
const SWEPT_MS = 10_000;
const POLL_MS = 40;
/** A command that was being started when its owner died has its own environment by then. */
const STARTED_MS = 30;
/** A mark that each command has for itself, and all that it starts. */
const COMMAND_MARK = /^MUSTER_PROCESS=/;

/** What the processes of a run left behind, while none of them lives. */
export interface Leftovers {
  readonly pids: readonly number[];
  /** They tell what was there before from what the next process starts. */
  readonly marks: ReadonlySet<string>;
}

/** The processes of a run: its home is nobody else's. */
export function leftoversOf(sandbox: Sandbox): Leftovers {
  const pids = findProcesses({ marks: new Set([`HOME=${sandbox.home}`]) }) ?? [];
  return { pids, marks: new Set(pids.flatMap(commandMarks)) };
}

/**
 * Which of them, and of what they started, lives 10 s after now, or when the process that begins now
 * has ended by itself; each as a sentence. One that is killed before has not had its time.
 */
export async function watchSweep(
  sandbox: Sandbox,
  before: Leftovers,
  finished: Promise<Finished>,
): Promise<readonly string[]> {
  const giveUpAt = performance.now() + SWEPT_MS;
  let ended: Finished | null = null;
  void finished.then((how) => (ended = how));
  const isKilled = (): boolean => ended?.signal === 'SIGKILL';
  await sleep(STARTED_MS);
  // The new process itself has no such mark, and no command of its own yet.
  const marks = new Set([...before.marks, ...leftoversOf(sandbox).marks]);
  if (marks.size === 0) return [];
  for (let left = findProcesses({ marks }) ?? []; left.length > 0 && !isKilled();) {
    if (ended !== null || performance.now() > giveUpAt) {
      return [`after the resume began, of the run before there is still ${describe(left)}`];
    }
    await sleep(POLL_MS);
    left = findProcesses({ marks }) ?? [];
  }
  return [];
}

function commandMarks(pid: number): readonly string[] {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return environment.filter((variable) => COMMAND_MARK.test(variable));
  } catch {
    // It has ended since it was seen.
    return [];
  }
}
