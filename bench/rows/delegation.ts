import type { Rule } from '../../src/testing/rules.ts';
import { diskSyncTimes } from '../harness/disk.ts';
import type { Figure } from '../harness/figure.ts';
import {
  answeredAt,
  exchangesOf,
  startModelServer,
  type Exchange,
} from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median, quantile } from '../harness/statistics.ts';

const DELEGATIONS = 30;
const RUNS = 5;
/** Of each run: the code is being compiled, which a session of any length leaves behind. */
const WARM_UP = 5;

const PROMPT = 'Delegate what has to be delegated.';
const CHILD_PROMPT = 'Find out one thing';

/** Muster's own time on both ways of a delegation, with the log on and `durability = "safe"`. */
export const delegation: Row = {
  name: 'delegation',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    await using server = await startModelServer(place, script());
    const env = place.environment(place.newHome(), server.env('anthropic'));
    const runs = [];
    for (let index = 0; index < RUNS; index += 1) {
      runs.push(await runProgram([bin, '-p', PROMPT], { cwd: place.workspace, env }));
    }
    const syncs = diskSyncTimes(place.path('sync'));
    const exchanges = await server.finish();
    const ways = runs.map((run) => ownTimes(exchangesOf(run, exchanges)));
    const disk = `one append and fdatasync on this disk: median ${median(syncs).toFixed(2)} ms, p95 ${quantile(syncs, 0.95).toFixed(2)} ms`;
    return [
      figure(
        'Task call answered → child’s first request',
        ways.map(({ out }) => out),
        [disk],
      ),
      figure(
        'child’s last byte → parent’s next request',
        ways.map(({ back }) => back),
        [],
      ),
    ];
  },
};

/** One child at a time, each asked something else. */
function script(): readonly Rule[] {
  const calls = Array.from({ length: DELEGATIONS }, (_, index): Rule => {
    const prompt = `${CHILD_PROMPT}: number ${index}.`;
    const input = { description: `look up ${index}`, prompt, subagent_type: 'Explore' };
    return {
      when: { promptIncludes: PROMPT, toolResults: index },
      answer: { toolCalls: [{ name: 'Task', input }] },
    };
  });
  return [
    ...calls,
    { when: { promptIncludes: PROMPT }, answer: { text: 'All is done.' } },
    { when: { promptIncludes: CHILD_PROMPT }, answer: { text: 'Here it is: notes.txt:1.' } },
  ];
}

interface OwnTimes {
  readonly out: readonly number[];
  readonly back: readonly number[];
}

/** The requests of such a run alternate: parent, child, parent, … */
function ownTimes(exchanges: readonly Exchange[]): OwnTimes {
  const expected = 2 * DELEGATIONS + 1;
  if (exchanges.length !== expected) {
    throw new Error(`${exchanges.length} requests came of ${expected}`);
  }
  const gaps = exchanges.slice(1).map((exchange, index) => {
    const before = exchanges[index];
    return before === undefined ? Number.NaN : exchange.receivedAt - answeredAt(before);
  });
  return {
    out: gaps.filter((_, index) => index % 2 === 0),
    back: gaps.filter((_, index) => index % 2 === 1),
  };
}

function figure(
  what: string,
  runs: readonly (readonly number[])[],
  notes: readonly string[],
): Figure {
  const samples = runs.flatMap((gaps) => gaps.slice(WARM_UP));
  const firsts = runs.flatMap((gaps) => gaps.slice(0, 1));
  return {
    what,
    unit: 'ms',
    samples,
    bound: { kind: 'most', most: 10, goal: 5 },
    notes: [
      `p95 ${quantile(samples, 0.95).toFixed(1)} ms; the first of each run ${median(firsts).toFixed(1)} ms`,
      ...notes,
    ],
  };
}
