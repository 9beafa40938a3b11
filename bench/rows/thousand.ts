import { setTimeout as sleep } from 'node:timers/promises';
import { byteLength } from '../../src/base/text.ts';
import {
  childrenOf,
  FAN_OUT_PROMPT,
  fanOutScript,
  idealMs,
  MANY_CHILDREN_SETTINGS,
  requestsAfter,
  raisedNote,
  requestsUntil,
  turnCount,
  type FanOut,
} from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import { baselineSide, interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import {
  exchangesOf,
  startModelServer,
  waitForRequests,
  type Exchange,
} from '../harness/model-server.ts';
import { measureHeap, PROBE_ARGS } from '../harness/probe.ts';
import { startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import {
  runKeepAliveClient,
  runSilentChildren,
  type SilentRun,
} from '../harness/silent-children.ts';

const MANY: FanOut = {
  children: 1000,
  coordinators: 0,
  isBackground: true,
  waves: 1,
  turnMs: 5000,
};
const FEW: FanOut = { ...MANY, children: 100 };
/** The additional turns of `MANY`. The cost of one turn is the difference of both runs divided by them. */
const MORE_TURNS = (MANY.children - FEW.children) * turnCount(MANY);
/** Children in the foreground. The pause between two waves is long enough to measure what remains in memory. */
const WAVES: FanOut = { children: 1000, coordinators: 10, waves: 5, turnMs: 1000, pauseMs: 5000 };
/** The part of the pause in which logs are closed and answers are released. */
const SETTLE_MS = 1500;
const IDEAL_MS = idealMs(MANY);
/** The smallest number of rounds from which an interval of the ratio can be computed. */
const COMPARED_ROUNDS = 6;

/** 1,000 children at the same time, with turns as long as those of real models. */
export const thousand: Row = {
  name: 'thousand',
  isLong: true,
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    const usual = baselineBin === null ? 1 : COMPARED_ROUNDS;
    const times = await measureTimes({ bin, baselineBin, rounds: rounds ?? usual });
    const heap = await measureHeaps(bin);
    const baselineHeap = baselineBin === null ? null : await measureHeaps(baselineBin);
    const inMegabytes = (bytes: number | undefined) => (bytes ?? Number.NaN) / 1024 / 1024;
    return [
      {
        title: `${MANY.children} children × ${turnCount(MANY)} turns of ${MANY.turnMs / 1000} s`,
        unit: 'ms',
        samples: times.current.map(({ elapsedMs }) => elapsedMs),
        baseline: times.baseline.map(({ elapsedMs }) => elapsedMs),
        reference: {
          title: 'keep-alive client',
          samples: times.client.map(({ elapsedMs }) => elapsedMs),
        },
        bound: { kind: 'difference', max: 0.08 * IDEAL_MS, goal: 0.04 * IDEAL_MS },
        notes: ['all in the background, from one message', raisedNote(MANY_CHILDREN_SETTINGS)],
      },
      {
        title: `CPU time per child turn, from the difference to a run with ${FEW.children}`,
        unit: 'ms',
        samples: times.current.map(({ cpuMsPerTurn }) => cpuMsPerTurn),
        baseline: times.baseline.map(({ cpuMsPerTurn }) => cpuMsPerTurn),
        reference: {
          title: 'keep-alive client',
          samples: times.client.map(({ cpuMsPerTurn }) => cpuMsPerTurn),
        },
        bound: { kind: 'max', max: 2, goal: 1 },
      },
      {
        title: 'memory per child without its history',
        unit: 'KB',
        samples: [heap.bytesPerChild / 1024],
        baseline: baselineHeap === null ? [] : [baselineHeap.bytesPerChild / 1024],
        bound: { kind: 'max', max: 150, goal: 100 },
        notes: [`the history of a child is ${(heap.historyBytes / 1024).toFixed(1)} KB of JSON`],
      },
      {
        title: 'heap after five waves',
        unit: 'MB',
        samples: [inMegabytes(heap.afterWaves.at(-1))],
        baseline: baselineHeap === null ? [] : [inMegabytes(baselineHeap.afterWaves.at(-1))],
        reference: { title: 'after the first wave', samples: [inMegabytes(heap.afterWaves[0])] },
        notes: [
          `after each: ${heap.afterWaves.map((bytes) => inMegabytes(bytes).toFixed(1)).join(', ')} MB`,
        ],
        bound: { kind: 'ratio', max: 1.1, goal: 1.1 },
      },
    ];
  },
};

interface Times {
  /** Of the run with many children. */
  readonly elapsedMs: number;
  readonly cpuMsPerTurn: number;
}

interface TimesOfPrograms {
  readonly client: readonly Times[];
  readonly current: readonly Times[];
  readonly baseline: readonly Times[];
}

/** There is no round to warm up: the runs are too long for that to matter. */
async function measureTimes(options: {
  readonly bin: string;
  readonly baselineBin: string | null;
  readonly rounds: number;
}): Promise<TimesOfPrograms> {
  const { bin, baselineBin, rounds } = options;
  using fixture = new Fixture();
  const setups = [FEW, MANY].map((shape) => ({ fixture, shape, settings: MANY_CHILDREN_SETTINGS }));
  const runBuild = async (path: string) => {
    const home = fixture.newHome();
    const runs = [];
    for (const setup of setups) runs.push(await runSilentChildren(setup, path, home));
    return runs;
  };
  let recorded: readonly SilentRun[] = [];
  const sides = {
    current: async () => timesOf((recorded = await runBuild(bin))),
    baseline: baselineSide(baselineBin, async (path) => timesOf(await runBuild(path))),
    // The first round begins with the build, whose requests the client sends again.
    client: async () => {
      const runs = [];
      for (const [index, setup] of setups.entries()) {
        runs.push(await runKeepAliveClient(setup, recorded[index]?.children ?? []));
      }
      return timesOf(runs);
    },
  };
  return await interleave(rounds, sides, { hasWarmUp: false });
}

function timesOf([few, many]: readonly {
  readonly elapsedMs: number;
  readonly cpuMs: number;
}[]): Times {
  if (few === undefined || many === undefined) throw new Error('both runs are needed');
  return {
    elapsedMs: many.elapsedMs,
    cpuMsPerTurn: (many.cpuMs - few.cpuMs) / MORE_TURNS,
  };
}

interface Heaps {
  /** Without the messages of the child. */
  readonly bytesPerChild: number;
  /** The messages of one child, as JSON. */
  readonly historyBytes: number;
  /** The heap after each wave. */
  readonly afterWaves: readonly number[];
}

/** Uses runs of its own, because the program stops for a full garbage collection. */
async function measureHeaps(bin: string): Promise<Heaps> {
  const few = await heapDuring(FEW, bin);
  const many = await heapDuring(MANY, bin);
  const more = MANY.children - FEW.children;
  const historyBytes = (many.historyBytes - few.historyBytes) / more;
  return {
    historyBytes,
    bytesPerChild: (many.heapBytes - few.heapBytes) / more - historyBytes,
    afterWaves: await heapAfterWaves(bin),
  };
}

interface HeapDuringTurn {
  /** The heap in use while all children waited for their second answer. */
  readonly heapBytes: number;
  /** The messages of all children at that time, as JSON. */
  readonly historyBytes: number;
}

async function heapDuring(shape: FanOut, bin: string): Promise<HeapDuringTurn> {
  using fixture = new Fixture();
  await using server = await startModelServer(fixture, fanOutScript(shape));
  const program = startProbed(fixture, bin, server.env('anthropic'));
  await waitForRequests(server, requestsUntil(shape, 1, 2), program);
  const heapBytes = await measureHeap(program);
  const run = succeeded([bin], await program.finished);
  const children = childrenOf(exchangesOf(run, await server.finish()), shape);
  return {
    heapBytes,
    historyBytes: children.reduce((sum, task) => sum + messageBytes(task[1]), 0),
  };
}

/** The heap after each wave, in bytes, while the main agent waits for its next answer. */
async function heapAfterWaves(bin: string): Promise<readonly number[]> {
  using fixture = new Fixture();
  await using server = await startModelServer(fixture, fanOutScript(WAVES));
  const program = startProbed(fixture, bin, server.env('anthropic'));
  const heaps: number[] = [];
  for (let wave = 1; wave <= WAVES.waves; wave += 1) {
    await waitForRequests(server, requestsAfter(WAVES, wave), program);
    await sleep(SETTLE_MS);
    heaps.push(await measureHeap(program));
  }
  succeeded([bin], await program.finished);
  return heaps;
}

function startProbed(fixture: Fixture, bin: string, serverEnv: Readonly<Record<string, string>>) {
  return startProgram([bin, '-p', FAN_OUT_PROMPT], {
    cwd: fixture.workspace,
    env: fixture.environment(fixture.newHome(), { ...serverEnv, ...MANY_CHILDREN_SETTINGS }),
    nodeArgs: PROBE_ARGS,
  });
}

function messageBytes(exchange: Exchange | undefined): number {
  return byteLength(JSON.stringify(exchange?.body['messages'] ?? []));
}
