import { join } from 'node:path';
import { Fixture } from '../harness/fixture.ts';
import { baselineSide, interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { programPath, runProgram, type FinishedProgram } from '../harness/program.ts';
import {
  AGENT_NAMES,
  createRepository,
  writeAgentDefinitions,
  writeContextFiles,
} from '../harness/repository.ts';
import type { Row } from '../harness/row.ts';
import { writeSourceTree } from '../harness/source-tree.ts';

const ROUNDS = 15;
const REPOSITORY_FILES = 600;
const REFERENCE = 'Node, one fetch';
const BOUND = { kind: 'ratio', max: 1.5, goal: 1.25 } as const;

/** The time from the start of the process to the arrival of its first request at the server. */
export const start: Row = {
  name: 'start',
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    await using server = await startModelServer(fixture, [{ answer: { text: 'ok' } }]);
    const run = (args: readonly string[], home: string) =>
      runProgram(args, {
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
    const reference = { title: REFERENCE, samples: startTimes(runs.reference, exchanges) };
    return [
      {
        title: 'start → first request, warm',
        unit: 'ms',
        samples: startTimes(runs.warm, exchanges),
        baseline: startTimes(runs.warmBaseline, exchanges),
        reference,
        bound: BOUND,
      },
      {
        title: 'start → first request, nothing compiled yet',
        unit: 'ms',
        samples: startTimes(runs.cold, exchanges),
        baseline: startTimes(runs.coldBaseline, exchanges),
        reference,
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
      runProgram(args, {
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
    return [
      {
        title: `start → first request, repository of ${REPOSITORY_FILES} files`,
        unit: 'ms',
        samples: startTimes(runs.current, exchanges),
        baseline: startTimes(runs.baseline, exchanges),
        reference: { title: REFERENCE, samples: startTimes(runs.reference, exchanges) },
        notes: [
          `warm; context files at two levels and of the user, ${AGENT_NAMES.length} agent definitions in the formats of six products`,
        ],
      },
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

function startTimes(
  runs: readonly FinishedProgram[],
  exchanges: readonly Exchange[],
): readonly number[] {
  return runs.map((run) => exchangesOf(run, exchanges)[0].receivedAt - run.startedAt);
}
