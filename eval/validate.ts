import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyForJudging, createChecker, judge, type Checker } from './judge.ts';
import type { Selection } from './options.ts';
import { preparePlace, type Place } from './place.ts';
import { forEachInParallel } from './parallel.ts';
import { applySolution } from './scripted/solution.ts';
import { findMissingPrograms, selectTasks } from './selection.ts';
import type { EvalTask } from './tasks.ts';

/**
 * Lists what is wrong with a task. As given, its visible and its hidden check must fail; with the solution both must pass.
 */
export async function findTaskProblems(
  task: EvalTask,
  checker: Checker,
  place: Place,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const state of ['as given', 'with the solution'] as const) {
    const tree = join(place.work, task.name, 'tree');
    rmSync(tree, { recursive: true, force: true });
    cpSync(join(task.directory, 'repo'), tree, { recursive: true });
    if (state === 'with the solution') applySolution(task, tree);
    const judged = join(place.work, task.name, 'judged');
    copyForJudging(task, { tree, judged });
    const hidden = await judge(task, checker, { judged });
    const visible = await checker.run(task.check, tree, task.checkSeconds);
    const shouldPass = state === 'with the solution';
    for (const [name, end] of [['hidden', hidden] as const, ['visible', visible] as const]) {
      const passes = end.exitCode === 0;
      if (passes !== shouldPass) {
        const how = end.timedOut ? 'takes too long' : passes ? 'passes' : 'fails';
        problems.push(`the ${name} check ${how} ${state}: ${end.output.slice(-1500).trim()}`);
      }
    }
  }
  rmSync(join(place.work, task.name), { recursive: true, force: true });
  return problems;
}

/** Validates the selected tasks. Returns 1 if a task is wrong. */
export async function validateTasks(selection: Selection, jobs: number): Promise<number> {
  const out = mkdtempSync(join(tmpdir(), 'muster-eval-validate-'));
  const place = preparePlace(out);
  let wrong = 0;
  try {
    const checker = await createChecker(place);
    await forEachInParallel(selectTasks(selection), jobs, async (task) => {
      const missing = findMissingPrograms(task);
      if (missing.length > 0) {
        process.stdout.write(`not run  ${task.name}: needs ${missing.join(', ')}\n`);
        return;
      }
      const startedAt = performance.now();
      const problems = await findTaskProblems(task, checker, place);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      if (problems.length > 0) wrong += 1;
      process.stdout.write(
        `${problems.length === 0 ? 'ok     ' : 'WRONG  '}  ${task.name} ${seconds} s\n`,
      );
      for (const problem of problems) process.stdout.write(`         ${problem}\n`);
    });
  } finally {
    for (const directory of [out, place.work]) rmSync(directory, { recursive: true, force: true });
  }
  return wrong === 0 ? 0 : 1;
}
