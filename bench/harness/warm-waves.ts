import { setTimeout as sleep } from 'node:timers/promises';
import {
  FAN_OUT_PROMPT,
  fanOutScript,
  requestsAfter,
  requestsUntil,
  type FanOut,
} from './fan-out.ts';
import type { Fixture } from './fixture.ts';
import {
  answeredAt,
  byTask,
  exchangesOf,
  startModelServer,
  waitForRequests,
} from './model-server.ts';
import { cpuTimeOfTree } from './processes.ts';
import { startProgram, succeeded } from './program.ts';

/** How long the server waits before each answer to the main agent, so that the CPU time can be read without haste. */
const PAUSE_MS = 500;

/** One wave of children in a process that has run such a wave before. Times are milliseconds. */
export interface WarmWave {
  /** From the last byte of the answer with the Task calls to the next request of the main agent. */
  readonly totalMs: number;
  /** The CPU time of the program and all processes below it in about that time. */
  readonly cpuMs: number;
}

export interface WarmWavesOptions {
  /** The path of the built program. */
  readonly bin: string;
  /** The number of measured waves. One more runs before them. */
  readonly waves: number;
  /** Further arguments of the program. */
  readonly args: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

/** Runs the same wave of children several times in one process, and measures all but the first. */
export async function measureWarmWaves(
  fixture: Fixture,
  shape: Omit<FanOut, 'pauseMs' | 'waves' | 'coordinators'>,
  { bin, waves, args, settings }: WarmWavesOptions,
): Promise<readonly WarmWave[]> {
  const fanOut: FanOut = { ...shape, coordinators: 0, waves: waves + 1, pauseMs: PAUSE_MS };
  await using server = await startModelServer(fixture, fanOutScript(fanOut));
  const env = fixture.environment(fixture.newHome(), { ...server.env('anthropic'), ...settings });
  const argv = [bin, '-p', FAN_OUT_PROMPT, '--max-turns', String(waves + 10), ...args];
  const program = startProgram(argv, { cwd: fixture.workspace, env });
  const cpuTimes: number[] = [];
  for (let wave = 0; wave <= fanOut.waves; wave += 1) {
    const requests = wave === 0 ? requestsUntil(fanOut, 1, 0) : requestsAfter(fanOut, wave);
    await waitForRequests(server, requests, program);
    await sleep(PAUSE_MS / 2);
    cpuTimes.push(cpuTimeOfTree(program.pid));
  }
  const run = succeeded(argv, await program.finished);
  const exchanges = exchangesOf(run, await server.finish());
  const failed = exchanges.find(({ rawBody }) => rawBody.includes('"is_error":true'));
  if (failed !== undefined) throw new Error(`a tool call failed: ${failed.rawBody.slice(-2000)}`);
  const [main = []] = byTask(exchanges);
  if (main.length !== fanOut.waves + 1)
    throw new Error(`${main.length} requests of the main agent`);
  return main.slice(1, -1).map((asking, index) => {
    const next = main[index + 2];
    return {
      totalMs: next === undefined ? Number.NaN : next.receivedAt - answeredAt(asking),
      cpuMs: (cpuTimes[index + 2] ?? Number.NaN) - (cpuTimes[index + 1] ?? Number.NaN),
    };
  });
}
