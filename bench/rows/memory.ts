import { Fixture } from '../harness/fixture.ts';
import { baselineSide, interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { startModelServer } from '../harness/model-server.ts';
import { readExitReport, PROBE_ARGS } from '../harness/probe.ts';
import { programPath, startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { median } from '../harness/statistics.ts';

const ROUNDS = 7;

/** The peak memory of a run with one turn: the maximum resident set of the process. */
export const memory: Row = {
  name: 'memory',
  canCompare: true,
  async measure({ bin, baselineBin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    await using server = await startModelServer(fixture, [{ answer: { text: 'ok' } }]);
    const [home, baselineHome] = [fixture.newHome(), fixture.newHome()];
    const peak = async (args: readonly string[], inHome = home): Promise<number> => {
      const env = fixture.environment(inHome, server.env('anthropic'));
      const program = startProgram(args, { cwd: fixture.workspace, env, nodeArgs: PROBE_ARGS });
      succeeded(args, await program.finished);
      return readExitReport(program).peakMb;
    };
    const peaks = await interleave(rounds ?? ROUNDS, {
      reference: () => peak([programPath('nothing.mjs')]),
      fetch: () => peak([programPath('one-fetch.mjs'), server.url]),
      current: () => peak([bin, '-p', 'Hello.']),
      baseline: baselineSide(baselineBin, (path) => peak([path, '-p', 'Hello.'], baselineHome)),
    });
    await server.close();
    return [
      {
        title: 'peak memory of a one-turn run',
        unit: 'MB',
        samples: peaks.current,
        baseline: peaks.baseline,
        reference: { title: 'Node, doing nothing', samples: peaks.reference },
        bound: { kind: 'difference', max: 80, goal: 50 },
        notes: [`Node with one fetch: ${median(peaks.fetch).toFixed(1)} MB`],
      },
    ];
  },
};
