import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { printedNumber, programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { getDataPaths } from '../../src/store/files/data-dir.ts';

const ROUNDS = 7;
const TASKS = 10_000;
const BOUND = { kind: 'max', max: 200, goal: 100 } as const;

/** Listing ended tasks from the index, without opening their logs: by the store, a command, and the page. */
export const listing: Row = {
  name: 'listing',
  async measure({ bin }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const env = fixture.environment(fixture.newHome());
    const data = env['MUSTER_DATA_DIR'] ?? '';
    const run = (args: readonly string[]) => runProgram(args, { cwd: fixture.workspace, env });
    await run([programPath('ended-tasks.ts'), data, String(TASKS)]);
    const runs = await interleave(ROUNDS, {
      read: () => run([programPath('read-file.mjs'), getDataPaths(data).index]),
      store: () => run([programPath('list-tasks.ts'), data]),
      nothing: () => run([programPath('nothing.mjs')]),
      command: () => run([bin, 'tasks', 'list', '--json']),
      page: () => run([programPath('web-overview.mjs'), bin]),
    });
    const listed = Math.min(
      ...[...runs.store, ...runs.page].map((one) => printedNumber(one, 'tasks')),
    );
    if (listed !== TASKS) throw new Error(`${listed} tasks were listed instead of ${TASKS}`);
    const tasks = `${TASKS.toLocaleString('en')} ended tasks`;
    return [
      {
        title: `listing ${tasks}, the store alone`,
        unit: 'ms',
        samples: runs.store.map((one) => printedNumber(one, 'listMs')),
        reference: {
          title: 'reading the index',
          samples: runs.read.map((one) => printedNumber(one, 'readMs')),
        },
        bound: BOUND,
      },
      {
        title: `\`muster tasks list --json\` of ${tasks}, start to end`,
        unit: 'ms',
        samples: runs.command.map((one) => one.endedAt - one.startedAt),
        reference: {
          title: 'Node, doing nothing',
          samples: runs.nothing.map((one) => one.endedAt - one.startedAt),
        },
        bound: BOUND,
      },
      {
        title: `the page of \`muster web\` gets ${tasks}`,
        unit: 'ms',
        samples: runs.page.map((one) => printedNumber(one, 'overviewMs')),
        reference: {
          title: 'reading the index',
          samples: runs.read.map((one) => printedNumber(one, 'readMs')),
        },
        bound: { kind: 'max', max: 500, goal: 250 },
      },
    ];
  },
};
