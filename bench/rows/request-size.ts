import { byteLength } from '../../src/base/text.ts';
import { FAN_OUT_PROMPT, fanOutScript } from '../harness/fan-out.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { byTask, exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

/** The size of the system prompt and the tools, which each conversation sends before its first message. */
export const requestSize: Row = {
  name: 'request-size',
  async measure({ bin }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    await using server = await startModelServer(
      fixture,
      fanOutScript({ children: 1, coordinators: 0, waves: 1, turnMs: 0 }),
    );
    const run = await runProgram([bin, '-p', FAN_OUT_PROMPT], {
      cwd: fixture.workspace,
      env: fixture.environment(fixture.newHome(), server.env('anthropic')),
    });
    const tasks = byTask(exchangesOf(run, await server.finish()));
    return [
      measurement('main', tasks[0]?.[0], 10_500),
      measurement('Explore', tasks[1]?.[0], 5_400),
    ];
  },
};

function measurement(agent: string, first: Exchange | undefined, maxBytes: number): Measurement {
  if (first === undefined) throw new Error(`${agent} sent no request`);
  const bytes = { system: jsonBytes(first.body['system']), tools: jsonBytes(first.body['tools']) };
  return {
    title: `system + tools of the first request, ${agent}`,
    unit: 'bytes',
    samples: [bytes.system + bytes.tools],
    bound: { kind: 'max', max: maxBytes, goal: maxBytes },
    notes: [`system ${bytes.system}, tools ${bytes.tools}; Anthropic's form, no context files`],
  };
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : byteLength(JSON.stringify(value));
}
