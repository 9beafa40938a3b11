import { setTimeout as sleep } from 'node:timers/promises';
import { byteLength } from '../../src/base/text.ts';
import {
  childrenOf,
  elapsed,
  FAN_OUT_PROMPT,
  fanOutScript,
  requestsAfter,
  requestsUntil,
  TURNS,
  writeConversations,
  type FanOut,
} from '../harness/fan-out.ts';
import type { Figure } from '../harness/figure.ts';
import {
  exchangesOf,
  startModelServer,
  type Exchange,
  type ModelServer,
} from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { exitReport, heapAfterCollection, PROBED } from '../harness/probe.ts';
import { programPath, startProgram, succeeded, type RunningProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const MANY: FanOut = {
  children: 1000,
  coordinators: 0,
  background: true,
  waves: 1,
  turnMs: 5000,
};
const FEW: FanOut = { ...MANY, children: 100 };
/** In the foreground, with long enough between waves for what they left behind to be measured. */
const WAVES: FanOut = { children: 1000, coordinators: 10, waves: 5, turnMs: 1000, pauseMs: 5000 };
/** For logs to be closed and answers to be let go, within the pause. */
const SETTLE_MS = 1500;
const IDEAL_MS = TURNS * MANY.turnMs;
const SETTINGS = {
  MUSTER_TASK_TOOL_NESTED: 'true',
  MUSTER_TASK_TOOL_MAX_PARALLEL: '1000',
  MUSTER_TASK_TOOL_MAX_TASKS: '10000',
  MUSTER_TASK_TOOL_MAX_TOKENS: '1000000000',
  MUSTER_PROVIDER_MAX_CONCURRENT: '2000',
};

/** 1,000 children at once, with turns as long as those of real models. */
export const thousand: Row = {
  name: 'thousand',
  long: true,
  async measure({ bin }): Promise<readonly Figure[]> {
    const few = await measureOnce(FEW, bin);
    const many = await measureOnce(MANY, bin);
    const more = MANY.children - FEW.children;
    const cpu = (many.cpuMs - few.cpuMs) / (more * TURNS);
    // In runs of their own: to look into a heap is to stop the program for a full collection.
    const fewHeld = await measureHeap(FEW, bin);
    const manyHeld = await measureHeap(MANY, bin);
    const history = (manyHeld.historyBytes - fewHeld.historyBytes) / more;
    const heap = (manyHeld.heapBytes - fewHeld.heapBytes) / more - history;
    const waves = await heapAfterWaves(bin);
    return [
      {
        what: `${MANY.children} children × ${TURNS} turns of ${MANY.turnMs / 1000} s`,
        unit: 'ms',
        samples: [many.elapsedMs],
        floor: { what: 'keep-alive client', samples: [many.floor.elapsedMs] },
        bound: { kind: 'above', most: 0.08 * IDEAL_MS, goal: 0.04 * IDEAL_MS },
        notes: [
          `one run, all in the background, from one message; raised: ${Object.entries(SETTINGS)
            .map((setting) => setting.join('='))
            .join(' ')}`,
        ],
      },
      {
        what: 'CPU a child turn, against a run with 100',
        unit: 'ms',
        samples: [cpu],
        floor: {
          what: 'keep-alive client',
          samples: [(many.floor.cpuMs - few.floor.cpuMs) / (more * TURNS)],
        },
        bound: { kind: 'most', most: 2, goal: 1 },
      },
      {
        what: 'memory a child, its history taken out',
        unit: 'KB',
        samples: [heap / 1024],
        bound: { kind: 'most', most: 150, goal: 100 },
        notes: [`the history of a child is ${(history / 1024).toFixed(1)} KB of JSON`],
      },
      {
        what: 'heap after five waves against after the first',
        unit: 'MB',
        samples: waves.slice(-1).map(megabytes),
        floor: { what: 'after the first wave', samples: waves.slice(0, 1).map(megabytes) },
        notes: [`after each: ${waves.map((bytes) => megabytes(bytes).toFixed(1)).join(', ')} MB`],
        bound: { kind: 'ratio', most: 1.1, goal: 1.1 },
      },
    ];
  },
};

interface Measured {
  readonly elapsedMs: number;
  readonly cpuMs: number;
  readonly floor: { readonly elapsedMs: number; readonly cpuMs: number };
}

async function measureOnce(shape: FanOut, bin: string): Promise<Measured> {
  using place = new Place();
  await using server = await startModelServer(place, fanOutScript(shape));
  const env = place.environment(place.newHome(), { ...server.env('anthropic'), ...SETTINGS });
  const start = (args: readonly string[]) =>
    startProgram(args, { cwd: place.workspace, env, nodeArgs: PROBED });

  const muster = start([bin, '-p', FAN_OUT_PROMPT]);
  const run = succeeded([bin], await muster.finished);
  const children = childrenOf(exchangesOf(run, await server.finish()), shape);

  await using bare = await startModelServer(place, fanOutScript(shape));
  const requests = place.path('conversations.json');
  writeConversations(requests, bare.url, children);
  const client = start([programPath('keep-alive-client.mjs'), requests]);
  const bareRun = succeeded(['keep-alive-client.mjs'], await client.finished);
  const bareChildren = childrenOf(exchangesOf(bareRun, await bare.finish()), shape);
  return {
    elapsedMs: elapsed(children),
    cpuMs: exitReport(muster).cpuMs,
    floor: { elapsedMs: elapsed(bareChildren), cpuMs: exitReport(client).cpuMs },
  };
}

interface Held {
  /** In use while all children waited for their second answer. */
  readonly heapBytes: number;
  /** The messages of all children at that time, as JSON. */
  readonly historyBytes: number;
}

async function measureHeap(shape: FanOut, bin: string): Promise<Held> {
  using place = new Place();
  await using server = await startModelServer(place, fanOutScript(shape));
  const env = place.environment(place.newHome(), { ...server.env('anthropic'), ...SETTINGS });
  const program = startProgram([bin, '-p', FAN_OUT_PROMPT], {
    cwd: place.workspace,
    env,
    nodeArgs: PROBED,
  });
  await untilRequested(server, { requests: requestsUntil(shape, 1, 2), program });
  const heapBytes = await heapAfterCollection(program);
  const run = succeeded([bin], await program.finished);
  const children = childrenOf(exchangesOf(run, await server.finish()), shape);
  return {
    heapBytes,
    historyBytes: children.reduce((sum, task) => sum + messageBytes(task[1]), 0),
  };
}

/** What the process holds after each wave, in bytes, while the main agent's next answer is awaited. */
async function heapAfterWaves(bin: string): Promise<readonly number[]> {
  using place = new Place();
  await using server = await startModelServer(place, fanOutScript(WAVES));
  const env = place.environment(place.newHome(), { ...server.env('anthropic'), ...SETTINGS });
  const program = startProgram([bin, '-p', FAN_OUT_PROMPT], {
    cwd: place.workspace,
    env,
    nodeArgs: PROBED,
  });
  const heaps: number[] = [];
  for (let wave = 1; wave <= WAVES.waves; wave += 1) {
    const requests = requestsAfter(WAVES, wave);
    await untilRequested(server, { requests, program });
    await sleep(SETTLE_MS);
    heaps.push(await heapAfterCollection(program));
  }
  succeeded([bin], await program.finished);

  return heaps;
}

interface Awaited {
  /** How many the server has had in all. */
  readonly requests: number;
  readonly program: RunningProgram;
}

async function untilRequested(server: ModelServer, { requests, program }: Awaited): Promise<void> {
  let ended = false;
  void program.finished.then(() => (ended = true));
  while ((await server.stats()).requests < requests) {
    if (ended) {
      const { stderr, stdout } = await program.finished;
      throw new Error(`it ended before ${requests} requests had come: ${stderr || stdout}`);
    }
    await sleep(50);
  }
}

function messageBytes(exchange: Exchange | undefined): number {
  return byteLength(JSON.stringify(exchange?.body['messages'] ?? []));
}

function megabytes(bytes: number): number {
  return bytes / 1024 / 1024;
}
