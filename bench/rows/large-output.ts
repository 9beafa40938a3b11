import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { answeredAt, exchangesOf, startModelServer } from '../harness/model-server.ts';
import { PROBE_ARGS, readExitReport } from '../harness/probe.ts';
import { startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const MEGABYTES = 100;
const PROMPT = 'Run the command.';
const LINES = `yes 'a line of output of some command' | head -c`;

/** A command that writes 100 MB: the time until the next request, and the memory that it takes. */
export const largeOutput: Row = {
  name: 'large-output',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const command = (megabytes: number) => `${LINES} ${megabytes * 1_000_000}`;
    const rule = (name: string, megabytes: number) => ({
      when: { promptIncludes: `${PROMPT} ${name}`, toolResults: 0 },
      answer: { toolCalls: [{ name: 'Bash', input: { command: command(megabytes) } }] },
    });
    const script = [rule('small', 0.001), rule('large', MEGABYTES), { answer: { text: 'ok' } }];
    await using server = await startModelServer(fixture, script);
    const env = fixture.environment(fixture.newHome(), server.env('anthropic'));
    const run = async (name: string) => {
      const args = [bin, '-p', `${PROMPT} ${name}`, '--allow', 'Bash'];
      const program = startProgram(args, { cwd: fixture.workspace, env, nodeArgs: PROBE_ARGS });
      const finished = succeeded(args, await program.finished);
      return { finished, peakMb: readExitReport(program).peakMb };
    };
    const runs = await interleave(rounds ?? 5, {
      small: () => run('small'),
      large: () => run('large'),
    });
    const exchanges = await server.finish();
    const times = (each: typeof runs.large) =>
      each.map(({ finished }) => {
        const [asking, next] = exchangesOf(finished, exchanges);
        return next === undefined ? Number.NaN : next.receivedAt - answeredAt(asking);
      });
    const reference = `the same with 1 KB`;
    return [
      {
        title: `a command that writes ${MEGABYTES} MB, answer → next request`,
        unit: 'ms',
        samples: times(runs.large),
        reference: { title: reference, samples: times(runs.small) },
      },
      {
        title: 'peak memory of that run',
        unit: 'MB',
        samples: runs.large.map(({ peakMb }) => peakMb),
        reference: { title: reference, samples: runs.small.map(({ peakMb }) => peakMb) },
        bound: { kind: 'difference', max: 80, goal: 30 },
      },
    ];
  },
};
