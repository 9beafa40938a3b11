import type { Figure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import { Place } from '../harness/place.ts';
import { printedNumber, programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { dataPaths } from '../../src/store/data-dir.ts';

const ROUNDS = 7;
const TASKS = 10_000;
const BOUND = { kind: 'most', most: 200, goal: 100 } as const;

/** Listing tasks that have ended: from the index, without opening their logs. */
export const listing: Row = {
  name: 'listing',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    const env = place.environment(place.newHome());
    const data = env['MUSTER_DATA_DIR'] ?? '';
    const run = (args: readonly string[]) => runProgram(args, { cwd: place.workspace, env });
    await run([programPath('ended-tasks.ts'), data, String(TASKS)]);
    const runs = await interleave(ROUNDS, {
      read: () => run([programPath('read-file.mjs'), dataPaths(data).index]),
      store: () => run([programPath('list-tasks.ts'), data]),
      nothing: () => run([programPath('nothing.mjs')]),
      command: () => run([bin, 'tasks', 'list', '--json']),
    });
    const listed = Math.min(...runs.store.map((one) => printedNumber(one, 'tasks')));
    if (listed !== TASKS) throw new Error(`${listed} tasks were listed of ${TASKS}`);
    const tasks = `${TASKS.toLocaleString('en')} ended tasks`;
    return [
      {
        what: `listing ${tasks}, the store alone`,
        unit: 'ms',
        samples: runs.store.map((one) => printedNumber(one, 'listMs')),
        floor: {
          what: 'reading the index',
          samples: runs.read.map((one) => printedNumber(one, 'readMs')),
        },
        bound: BOUND,
      },
      {
        what: '`muster tasks list --json` of them, start to end',
        unit: 'ms',
        samples: runs.command.map((one) => one.endedAt - one.startedAt),
        floor: {
          what: 'Node, doing nothing',
          samples: runs.nothing.map((one) => one.endedAt - one.startedAt),
        },
        bound: BOUND,
      },
    ];
  },
};
