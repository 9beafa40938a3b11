import { writeFileSync } from 'node:fs';
import {
  childrenOf,
  elapsedMs,
  FAN_OUT_PROMPT,
  fanOutScript,
  toClientRequest,
  type FanOut,
} from './fan-out.ts';
import type { Fixture } from './fixture.ts';
import { baselineSide, interleave } from './interleave.ts';
import { exchangesOf, startModelServer, type Exchange, type ModelServer } from './model-server.ts';
import { PROBE_ARGS, readExitReport } from './probe.ts';
import { programPath, startProgram, succeeded, type FinishedProgram } from './program.ts';
import type { RowOptions } from './row.ts';

type Conversations = readonly (readonly Exchange[])[];

/** A run of children whose tools cost next to nothing. */
export interface SilentRun {
  readonly children: Conversations;
  /** From the first request of any child to the last answer to one, in milliseconds. */
  readonly elapsedMs: number;
  /** The CPU time of the whole process, in milliseconds. */
  readonly cpuMs: number;
}

/** The workspace, the script and the settings of all runs of a comparison. */
export interface SilentSetup {
  readonly fixture: Fixture;
  readonly shape: FanOut;
  readonly settings: Readonly<Record<string, string>>;
}

interface ProbedRun {
  readonly run: FinishedProgram;
  readonly cpuMs: number;
}

/** Runs the build once in this home directory, with a server of its own. */
export async function runSilentChildren(
  setup: SilentSetup,
  bin: string,
  home: string,
): Promise<SilentRun> {
  await using server = await startModelServer(setup.fixture, fanOutScript(setup.shape));
  const probed = await runProbed([bin, '-p', FAN_OUT_PROMPT], { setup, server, home });
  return silentRun(probed, await server.finish(), setup.shape);
}

/** Sends the conversations again with `keep-alive-client.mjs`, which does nothing else. */
export async function runKeepAliveClient(
  setup: SilentSetup,
  recorded: Conversations,
): Promise<SilentRun> {
  await using server = await startModelServer(setup.fixture, fanOutScript(setup.shape));
  const args = keepAliveArgs(setup.fixture, server.url, recorded);
  const probed = await runProbed(args, { setup, server, home: setup.fixture.newHome() });
  return silentRun(probed, await server.finish(), setup.shape);
}

export interface SilentRuns {
  readonly client: readonly SilentRun[];
  readonly current: readonly SilentRun[];
  /** Empty without a baseline build. */
  readonly baseline: readonly SilentRun[];
}

/** Runs the keep-alive client, the build and the baseline build alternately, with one server for all of them. */
export async function measureSilentChildren(
  setup: SilentSetup,
  { bin, baselineBin, rounds }: RowOptions & { readonly rounds: number },
): Promise<SilentRuns> {
  const { fixture, shape } = setup;
  const [home, baselineHome] = [fixture.newHome(), fixture.newHome()];
  const { children: recorded } = await runSilentChildren(setup, bin, home);
  await using server = await startModelServer(fixture, fanOutScript(shape));
  const clientArgs = keepAliveArgs(fixture, server.url, recorded);
  const run = (args: readonly string[], inHome: string) =>
    runProbed(args, { setup, server, home: inHome });
  const runs = await interleave(rounds, {
    client: () => run(clientArgs, home),
    current: () => run([bin, '-p', FAN_OUT_PROMPT], home),
    baseline: baselineSide(baselineBin, (path) => run([path, '-p', FAN_OUT_PROMPT], baselineHome)),
  });
  const exchanges = await server.finish();
  return {
    client: runs.client.map((each) => silentRun(each, exchanges, shape)),
    current: runs.current.map((each) => silentRun(each, exchanges, shape)),
    baseline: runs.baseline.map((each) => silentRun(each, exchanges, shape)),
  };
}

function keepAliveArgs(fixture: Fixture, url: string, recorded: Conversations): readonly string[] {
  const path = fixture.path('conversations.json');
  const conversations = recorded.map((task) => task.map(toClientRequest));
  writeFileSync(path, JSON.stringify({ url, conversations }));
  return [programPath('keep-alive-client.mjs'), path];
}

async function runProbed(
  args: readonly string[],
  context: { readonly setup: SilentSetup; readonly server: ModelServer; readonly home: string },
): Promise<ProbedRun> {
  const { setup, server, home } = context;
  const { fixture, settings } = setup;
  const program = startProgram(args, {
    cwd: fixture.workspace,
    env: fixture.environment(home, { ...server.env('anthropic'), ...settings }),
    nodeArgs: PROBE_ARGS,
  });
  const run = succeeded(args, await program.finished);
  return { run, cpuMs: readExitReport(program).cpuMs };
}

function silentRun(
  { run, cpuMs }: ProbedRun,
  exchanges: readonly Exchange[],
  shape: FanOut,
): SilentRun {
  const children = childrenOf(exchangesOf(run, exchanges), shape);
  return { children, elapsedMs: elapsedMs(children), cpuMs };
}
