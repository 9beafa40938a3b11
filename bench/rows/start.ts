import { join } from 'node:path';
import { Fixture } from '../harness/fixture.ts';
import { baselineSide, interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { CAN_MEASURE_CPU_TIME, cpuTimeOfEndedChildren } from '../harness/processes.ts';
import {
  programPath,
  runProgram,
  type FinishedProgram,
  type ProgramOptions,
} from '../harness/program.ts';
import {
  AGENT_NAMES,
  createRepository,
  writeAgentDefinitions,
  writeContextFiles,
} from '../harness/repository.ts';
import type { Row } from '../harness/row.ts';
import { writeSourceTree } from '../harness/source-tree.ts';

const ROUNDS = 15;
const VERSION_ROUNDS = 40;
const REPOSITORY_FILES = 600;
const REFERENCE = 'Node, one fetch';

/** The time from the start of the process to the arrival of its first request at the server. */
export const start: Row = {
  name: 'start',
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    await using server = await startModelServer(fixture, [{ answer: { text: 'ok' } }]);
    const run = (args: readonly string[], home: string) =>
      runAndCount(args, {
        cwd: fixture.workspace,
        env: fixture.environment(home, server.env('anthropic')),
      });
    const runMuster = (path: string, home: string) => run([path, '-p', 'Hello.'], home);
    const [warmHome, warmBaselineHome] = [fixture.newHome(), fixture.newHome()];
    const runs = await interleave(rounds ?? ROUNDS, {
      reference: () => run([programPath('one-fetch.mjs'), server.url], warmHome),
      warm: () => runMuster(bin, warmHome),
      warmBaseline: baselineSide(baselineBin, (path) => runMuster(path, warmBaselineHome)),
      cold: () => runMuster(bin, fixture.newHome()),
      coldBaseline: baselineSide(baselineBin, (path) => runMuster(path, fixture.newHome())),
    });
    const exchanges = await server.finish();
    const warm = { reference: runs.reference, current: runs.warm, baseline: runs.warmBaseline };
    const cold = { reference: runs.reference, current: runs.cold, baseline: runs.coldBaseline };
    return [
      {
        ...startMeasurement('start → first request, warm', warm, exchanges),
        bound: { kind: 'ratio', max: 1.5, goal: 1.25 },
      },
      ...cpuMeasurements('one-turn run, warm', warm),
      startMeasurement('start → first request, nothing compiled yet', cold, exchanges),
    ];
  },
};

/** The time from the start of `muster --version` to its end. */
export const version: Row = {
  name: 'version',
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const [home, baselineHome] = [fixture.newHome(), fixture.newHome()];
    const run = async (args: readonly string[], inHome: string) => {
      const options = { cwd: fixture.workspace, env: fixture.environment(inHome, {}) };
      const { startedAt, endedAt } = await runProgram(args, options);
      return endedAt - startedAt;
    };
    const runs = await interleave(rounds ?? VERSION_ROUNDS, {
      reference: () => run([programPath('nothing.mjs')], home),
      current: () => run([bin, '--version'], home),
      baseline: baselineSide(baselineBin, (path) => run([path, '--version'], baselineHome)),
    });
    return [
      {
        title: 'muster --version',
        unit: 'ms',
        samples: runs.current,
        baseline: runs.baseline,
        reference: { title: 'Node, an empty program', samples: runs.reference },
        bound: { kind: 'ratio', max: 1.2, goal: 1.1 },
      },
    ];
  },
};

/** The same in a git repository with context files and agent definitions of the user and the project. */
export const startInRepository: Row = {
  name: 'start-repository',
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const [home, baselineHome] = [fixture.newHome(), fixture.newHome()];
    writeSourceTree(fixture.workspace, REPOSITORY_FILES);
    for (const each of [home, baselineHome]) {
      writeContextFiles(fixture.workspace, each);
      writeAgentDefinitions(fixture.workspace, each);
    }
    createRepository(fixture.workspace);
    await using server = await startModelServer(fixture, [{ answer: { text: 'ok' } }]);
    const run = (args: readonly string[], inHome: string) =>
      runAndCount(args, {
        cwd: join(fixture.workspace, 'src'),
        env: fixture.environment(inHome, server.env('anthropic')),
      });
    await run([bin, 'trust', 'add', '--yes'], home);
    if (baselineBin !== null) await run([baselineBin, 'trust', 'add', '--yes'], baselineHome);
    const runs = await interleave(rounds ?? ROUNDS, {
      reference: () => run([programPath('one-fetch.mjs'), server.url], home),
      current: () => run([bin, '-p', 'Hello.'], home),
      baseline: baselineSide(baselineBin, (path) => run([path, '-p', 'Hello.'], baselineHome)),
    });
    const exchanges = await server.finish();
    for (const each of runs.current) checkContext(exchangesOf(each, exchanges)[0]);
    const repository = `repository of ${REPOSITORY_FILES} files`;
    return [
      {
        ...startMeasurement(`start → first request, ${repository}`, runs, exchanges),
        notes: [
          `warm; context files at two levels and of the user, ${AGENT_NAMES.length} agent definitions in the formats of six products`,
        ],
      },
      ...cpuMeasurements(`one-turn run, ${repository}`, runs),
    ];
  },
};

/** Throws when the request lacks an agent or a context file, because then the start had less to do. */
function checkContext({ rawBody }: Exchange): void {
  const missing = [...AGENT_NAMES, '# The project', '# The sources', '# My habits'].filter(
    (text) => !rawBody.includes(text),
  );
  if (missing.length > 0) throw new Error(`the first request lacks ${missing.join(', ')}`);
}

interface CountedRun extends FinishedProgram {
  /** The CPU time of the program and all processes below it, in milliseconds. */
  readonly cpuMs: number;
}

async function runAndCount(args: readonly string[], options: ProgramOptions): Promise<CountedRun> {
  if (!CAN_MEASURE_CPU_TIME) return { ...(await runProgram(args, options)), cpuMs: Number.NaN };
  const before = cpuTimeOfEndedChildren();
  const run = await runProgram(args, options);
  return { ...run, cpuMs: cpuTimeOfEndedChildren() - before };
}

interface Runs {
  readonly reference: readonly CountedRun[];
  readonly current: readonly CountedRun[];
  readonly baseline: readonly CountedRun[];
}

function startMeasurement(
  title: string,
  { reference, current, baseline }: Runs,
  exchanges: readonly Exchange[],
): Measurement {
  const times = (runs: readonly CountedRun[]) =>
    runs.map((run) => exchangesOf(run, exchanges)[0].receivedAt - run.startedAt);
  return {
    title,
    unit: 'ms',
    samples: times(current),
    baseline: times(baseline),
    reference: { title: REFERENCE, samples: times(reference) },
  };
}

/** The CPU time from the start to the end of the process. It depends less on other load than the time does. */
function cpuMeasurements(
  title: string,
  { reference, current, baseline }: Runs,
): readonly Measurement[] {
  if (!CAN_MEASURE_CPU_TIME) return [];
  const times = (runs: readonly CountedRun[]) => runs.map(({ cpuMs }) => cpuMs);
  return [
    {
      title: `${title}, CPU time of all processes`,
      unit: 'ms',
      samples: times(current),
      baseline: times(baseline),
      reference: { title: REFERENCE, samples: times(reference) },
    },
  ];
}
