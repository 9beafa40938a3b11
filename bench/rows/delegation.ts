import type { Rule } from '../../src/testing/rules.ts';
import { BARE_CLIENT, measureDelegations } from '../harness/delegation-runs.ts';
import { measureDiskSyncs } from '../harness/disk.ts';
import { Fixture } from '../harness/fixture.ts';
import { baselineSide, interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import {
  answeredAt,
  exchangesOf,
  startModelServer,
  type Exchange,
} from '../harness/model-server.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median, quantile } from '../harness/statistics.ts';

const DELEGATIONS = 30;
const ROUNDS = 7;
/** The first delegations of a process, during which its code is still being compiled. */
const WARM_UP = 5;

const PROMPT = 'Delegate what has to be delegated.';
const CHILD_PROMPT = 'Find out one thing';

/**
 * The time that Muster itself takes for a delegation in a process that has delegated before, with the event log on
 * and `durability = "safe"`.
 */
export const delegation: Row = {
  name: 'delegation',
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    await using server = await startModelServer(fixture, script());
    const run = (path: string, home: string) =>
      runProgram([path, '-p', PROMPT], {
        cwd: fixture.workspace,
        env: fixture.environment(home, server.env('anthropic')),
      });
    const [home, baselineHome] = [fixture.newHome(), fixture.newHome()];
    const runs = await interleave(rounds ?? ROUNDS, {
      current: () => run(bin, home),
      baseline: baselineSide(baselineBin, (path) => run(path, baselineHome)),
    });
    const syncs = measureDiskSyncs(fixture.path('sync'));
    const exchanges = await server.finish();
    const times = runs.current.map((each) => delegationGaps(exchangesOf(each, exchanges)));
    const baseline = runs.baseline.map((each) => delegationGaps(exchangesOf(each, exchanges)));
    const disk = `one append and fdatasync on this disk: median ${median(syncs).toFixed(2)} ms, p95 ${quantile(syncs, 0.95).toFixed(2)} ms`;
    return [
      measurement(
        'Task call → child’s first request',
        {
          current: times.map(({ out }) => out),
          baseline: baseline.map(({ out }) => out),
        },
        [disk],
      ),
      measurement(
        'child’s answer → main agent’s next request',
        {
          current: times.map(({ back }) => back),
          baseline: baseline.map(({ back }) => back),
        },
        [],
      ),
    ];
  },
};

/** One child at a time, each with a different prompt. */
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

/** Milliseconds of each delegation of a run: out to the child, and back to the main agent. */
interface DelegationGaps {
  readonly out: readonly number[];
  readonly back: readonly number[];
}

/** The requests of such a run alternate: main agent, child, main agent, … */
function delegationGaps(exchanges: readonly Exchange[]): DelegationGaps {
  const expected = 2 * DELEGATIONS + 1;
  if (exchanges.length !== expected) {
    throw new Error(`${exchanges.length} requests arrived instead of ${expected}`);
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

/** The samples are the medians of the runs. */
function measurement(
  title: string,
  runs: {
    readonly current: readonly (readonly number[])[];
    readonly baseline: readonly (readonly number[])[];
  },
  notes: readonly string[],
): Measurement {
  const warm = (gaps: readonly number[]) => gaps.slice(WARM_UP);
  const firsts = runs.current.flatMap((gaps) => gaps.slice(0, 1));
  return {
    title,
    unit: 'ms',
    samples: runs.current.map((gaps) => median(warm(gaps))),
    baseline: runs.baseline.map((gaps) => median(warm(gaps))),
    bound: { kind: 'max', max: 10, goal: 5 },
    notes: [
      `medians of ${DELEGATIONS - WARM_UP} delegations; of all, p95 ${quantile(runs.current.flatMap(warm), 0.95).toFixed(1)} ms; the first of each run ${median(firsts).toFixed(1)} ms`,
      ...notes,
    ],
  };
}

const FIRST_ROUNDS = 15;
const FIRST_TURN_MS = 200;

/** The first delegation of a process that has just started. */
export const firstDelegation: Row = {
  name: 'first-delegation',
  canCompare: true,
  async measure(options): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const shape = {
      children: 1,
      turnMs: FIRST_TURN_MS,
      jobs: [{ keyword: 'notes.txt', turns: [] }],
    };
    const rounds = options.rounds ?? FIRST_ROUNDS;
    const runs = await measureDelegations(fixture, shape, { ...options, rounds });
    const compare = (
      title: string,
      pick: (times: (typeof runs.bare)[number]) => number,
    ): Measurement => ({
      title: `first delegation, ${title}`,
      unit: 'ms',
      samples: runs.current.map(pick),
      baseline: runs.baseline.map(pick),
      reference: { title: BARE_CLIENT, samples: runs.bare.map(pick) },
    });
    return [
      compare('Task call → child’s first request', ({ outMs }) => outMs),
      compare('child’s answer → next request', ({ backMs }) => backMs),
      compare('CPU time of all processes', ({ cpuMs }) => cpuMs),
    ];
  },
};
