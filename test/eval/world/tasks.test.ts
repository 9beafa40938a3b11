import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChecker, type Checker } from '../../../eval/judge.ts';
import { preparePlace, type Place } from '../../../eval/place.ts';
import { loadTasks } from '../../../eval/tasks.ts';
import { findTaskProblems } from '../../../eval/validate.ts';
import { needs } from '../../needs.ts';

let out: string;
let place: Place;
let checker: Checker;
beforeAll(async () => {
  out = mkdtempSync(join(tmpdir(), 'muster-eval-tasks-'));
  place = preparePlace(out);
  checker = await createChecker(place);
});
afterAll(() => {
  for (const directory of [out, place.work]) rmSync(directory, { recursive: true, force: true });
});

for (const task of loadTasks(resolve(import.meta.dirname, '../../../eval/tasks'))) {
  // Programs that are missing are listed at the end of the run.
  const missing = Object.entries(task.needs).filter(([program, name]) => !needs(program, name));
  it.runIf(missing.length === 0)(
    `${task.name}: the checks fail as given and pass with the solution`,
    async () => {
      expect(await findTaskProblems(task, checker, place)).toEqual([]);
    },
  );
}
