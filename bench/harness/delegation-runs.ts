import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { rgPath } from '@vscode/ripgrep';
import { byteLength } from '../../src/base/text.ts';
import {
  childrenOf,
  FAN_OUT_PROMPT,
  fanOutScript,
  jobOf,
  toClientRequest,
  requestsAfter,
  type FanOut,
} from './fan-out.ts';
import type { Fixture } from './fixture.ts';
import { baselineSide, interleave } from './interleave.ts';
import {
  answeredAt,
  byTask,
  exchangesOf,
  startModelServer,
  waitForRequests,
  type Exchange,
  type ModelServer,
} from './model-server.ts';
import { cpuTimeOfTree } from './processes.ts';
import {
  programPath,
  startProgram,
  succeeded,
  type FinishedProgram,
  type ProgramOptions,
} from './program.ts';
import type { RowOptions } from './row.ts';
import { median } from './statistics.ts';

/**
 * How long the server waits before each answer to the main agent, in milliseconds. The program is idle in
 * this time, so the CPU time that it has used before and after the delegation can be read without haste.
 */
const PAUSE_MS = 500;

/** Raised limits, so that all children work at the same time. */
export const PARALLEL_SETTINGS = {
  MUSTER_TASK_TOOL_MAX_PARALLEL: '64',
  MUSTER_PROVIDER_MAX_CONCURRENT: '128',
};

/** The title of the reference in all measurements of delegations. */
export const BARE_CLIENT = 'bare client with fetch';

/** A delegation as the model server saw it. Times are milliseconds. */
export interface DelegationTimes {
  /** From the last byte of the answer with the Task calls to the first request of a child. */
  readonly outMs: number;
  /** From the last byte of the last answer to a child to the next request of the main agent. */
  readonly backMs: number;
  /** From the last byte of the answer with the Task calls to the next request of the main agent. */
  readonly totalMs: number;
  /** The CPU time of the program and all processes below it during `totalMs`. */
  readonly cpuMs: number;
}

export interface DelegationRuns {
  readonly bare: readonly DelegationTimes[];
  readonly current: readonly DelegationTimes[];
  /** Empty without a baseline build. */
  readonly baseline: readonly DelegationTimes[];
  /** How much longer the last request of a child is than its first: the size of its tool results. */
  readonly addedBytes: number;
}

interface MeasuredRun {
  readonly run: FinishedProgram;
  readonly cpuMs: number;
}

/**
 * Runs a delegation in a new process each round: with the build, with the baseline build, and with
 * `bare-delegation.mjs`, a client that sends the same requests, reads the same files and searches for the
 * same patterns without an agent. All of them run in the workspace of the fixture.
 */
export async function measureDelegations(
  fixture: Fixture,
  shape: Omit<FanOut, 'pauseMs' | 'waves' | 'coordinators'>,
  { bin, baselineBin, rounds }: RowOptions & { readonly rounds: number },
): Promise<DelegationRuns> {
  const fanOut: FanOut = { ...shape, coordinators: 0, waves: 1, pauseMs: PAUSE_MS };
  const recorded = await recordRun(fixture, fanOut, bin);
  await using server = await startModelServer(fixture, fanOutScript(fanOut));
  const requests = fixture.path('bare-delegation.json');
  writeBareDelegation(requests, { url: server.url, fanOut, exchanges: recorded });
  const inNewHome = (): ProgramOptions => ({
    cwd: fixture.workspace,
    env: fixture.environment(fixture.newHome(), {
      ...server.env('anthropic'),
      ...PARALLEL_SETTINGS,
    }),
  });
  const measure = (args: readonly string[], options: ProgramOptions) =>
    measureRun(args, { options, server, fanOut });
  const [currentOptions, baselineOptions] = [inNewHome(), inNewHome()];
  const runs = await interleave(rounds, {
    bare: () => measure([programPath('bare-delegation.mjs'), requests], currentOptions),
    current: () => measure([bin, '-p', FAN_OUT_PROMPT], currentOptions),
    baseline: baselineSide(baselineBin, (other) =>
      measure([other, '-p', FAN_OUT_PROMPT], baselineOptions),
    ),
  });
  const exchanges = await server.finish();
  const timesOf = ({ run, cpuMs }: MeasuredRun): DelegationTimes => ({
    ...delegationTimes(exchangesOf(run, exchanges), fanOut),
    cpuMs,
  });
  return {
    bare: runs.bare.map(timesOf),
    current: runs.current.map(timesOf),
    baseline: runs.baseline.map(timesOf),
    addedBytes: median(childrenOf(recorded, fanOut).map(addedBytes)),
  };
}

/**
 * Runs a delegation in a new process. Returns the median time, in milliseconds, between the last byte of an answer to a
 * child and the child's next request, without the first turn.
 */
export async function measureTurns(
  fixture: Fixture,
  shape: Omit<FanOut, 'pauseMs' | 'waves' | 'coordinators'>,
  { bin }: Pick<RowOptions, 'bin'>,
): Promise<number> {
  const fanOut: FanOut = { ...shape, coordinators: 0, waves: 1 };
  const exchanges = await recordRun(fixture, fanOut, bin);
  const times = childrenOf(exchanges, fanOut).flatMap((task) =>
    task.slice(2).map(({ receivedAt }, turn) => {
      const earlier = task[turn + 1];
      return earlier === undefined ? [] : receivedAt - answeredAt(earlier);
    }),
  );
  return median(times.flat());
}

/** Records a run whose requests the bare client sends again. */
async function recordRun(
  fixture: Fixture,
  fanOut: FanOut,
  bin: string,
): Promise<readonly Exchange[]> {
  await using server = await startModelServer(fixture, fanOutScript(fanOut));
  const env = fixture.environment(fixture.newHome(), {
    ...server.env('anthropic'),
    ...PARALLEL_SETTINGS,
  });
  const args = [bin, '-p', FAN_OUT_PROMPT];
  const run = succeeded(args, await startProgram(args, { cwd: fixture.workspace, env }).finished);
  const exchanges = exchangesOf(run, await server.finish());
  const failed = exchanges.find(({ rawBody }) => rawBody.includes('"is_error":true'));
  if (failed !== undefined) throw new Error(`a tool call failed: ${failed.rawBody.slice(-2000)}`);
  return exchanges;
}

function addedBytes(task: readonly Exchange[]): number {
  return byteLength(task.at(-1)?.rawBody ?? '') - byteLength(task[0]?.rawBody ?? '');
}

async function measureRun(
  args: readonly string[],
  context: {
    readonly options: ProgramOptions;
    readonly server: ModelServer;
    readonly fanOut: FanOut;
  },
): Promise<MeasuredRun> {
  const { options, server, fanOut } = context;
  const { requests: earlier } = await server.stats();
  const program = startProgram(args, options);
  await waitForRequests(server, earlier + 1, program);
  await sleep(PAUSE_MS / 2);
  const cpuBefore = cpuTimeOfTree(program.pid);
  await waitForRequests(server, earlier + requestsAfter(fanOut, 1), program);
  const cpuMs = cpuTimeOfTree(program.pid) - cpuBefore;
  return { run: succeeded(args, await program.finished), cpuMs };
}

function delegationTimes(
  exchanges: readonly Exchange[],
  fanOut: FanOut,
): Omit<DelegationTimes, 'cpuMs'> {
  const [delegating, next] = mainRequests(exchanges);
  const children = childrenOf(exchanges, fanOut).flat();
  const delegatedAt = answeredAt(delegating);
  return {
    outMs: Math.min(...children.map(({ receivedAt }) => receivedAt)) - delegatedAt,
    backMs: next.receivedAt - Math.max(...children.map(answeredAt)),
    totalMs: next.receivedAt - delegatedAt,
  };
}

function mainRequests(exchanges: readonly Exchange[]): readonly [Exchange, Exchange] {
  const [first, second] = byTask(exchanges)[0] ?? [];
  if (first !== undefined && second !== undefined) return [first, second];
  throw new Error('the main agent did not send a second request');
}

/** Writes the file that `bare-delegation.mjs` reads. */
function writeBareDelegation(
  path: string,
  recorded: {
    readonly url: string;
    readonly fanOut: FanOut;
    readonly exchanges: readonly Exchange[];
  },
): void {
  const { url, fanOut, exchanges } = recorded;
  const [first, last] = mainRequests(exchanges).map(toClientRequest);
  const children = childrenOf(exchanges, fanOut).map((task) => {
    const { turns } = jobOf(task, fanOut);
    return task.map((exchange, turn) => ({
      request: toClientRequest(exchange),
      calls: turns[turn] ?? [],
    }));
  });
  writeFileSync(path, JSON.stringify({ url, rgPath, first, children, last }));
}
