import { once } from 'node:events';
import { createServer } from 'node:http';
import { PARALLEL_SETTINGS } from '../harness/delegation-runs.ts';
import { FAN_OUT_PROMPT, fanOutScript, turnCount, type FanOut } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { startModelServer } from '../harness/model-server.ts';
import { readExitReport, PROBE_ARGS } from '../harness/probe.ts';
import { startProgram, succeeded } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';
import { writeSourceTree } from '../harness/source-tree.ts';

const ROUNDS = 20;
const SHAPE: FanOut = { children: 16, coordinators: 0, waves: 1, turnMs: 100 };

/** The CPU time of a run with subagents that exports traces and metrics, compared with the same run without. */
export const tracing: Row = {
  name: 'tracing',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    writeSourceTree(fixture.workspace, 200);
    await using server = await startModelServer(fixture, fanOutScript(SHAPE));
    const home = fixture.newHome();
    let received = 0;
    const receiver = createServer((request, response) => {
      received += 1;
      request.resume().once('end', () => response.end('{}'));
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const measure = async (settings: Readonly<Record<string, string>>): Promise<number> => {
      const variables = { ...server.env('anthropic'), ...PARALLEL_SETTINGS, ...settings };
      const env = fixture.environment(home, variables);
      const args = [bin, '-p', FAN_OUT_PROMPT];
      const program = startProgram(args, { cwd: fixture.workspace, env, nodeArgs: PROBE_ARGS });
      succeeded(args, await program.finished);
      return readExitReport(program).cpuMs;
    };
    const endpoint = `http://127.0.0.1:${address.port}`;
    const { on, off } = await interleave(rounds ?? ROUNDS, {
      on: () => measure({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
      off: () => measure({}),
    });
    receiver.close();
    if (received === 0) throw new Error('nothing was exported');
    return [
      {
        title: `CPU time of ${SHAPE.children} children × ${turnCount(SHAPE)} turns with traces and metrics`,
        unit: 'ms',
        samples: on,
        reference: { title: 'the same without an export', samples: off },
        bound: { kind: 'ratio', max: 1.1, goal: 1.03 },
      },
    ];
  },
};
