import { byteLength } from '../../src/base/text.ts';
import type { Figure } from '../harness/figure.ts';
import { FAN_OUT_PROMPT, fanOutScript } from '../harness/fan-out.ts';
import { byTask, exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const KB = 1024;

/** What every conversation pays before its first word: system prompt and tools, as they go out. */
export const requestSize: Row = {
  name: 'request-size',
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    await using server = await startModelServer(
      place,
      fanOutScript({ children: 1, coordinators: 0, waves: 1, turnMs: 0 }),
    );
    const run = await runProgram([bin, '-p', FAN_OUT_PROMPT], {
      cwd: place.workspace,
      env: place.environment(place.newHome(), server.env('anthropic')),
    });
    const tasks = byTask(exchangesOf(run, await server.finish()));
    return [
      figure('main', tasks[0]?.[0], { most: 20 * KB, goal: 16 * KB }),
      figure('Explore', tasks[1]?.[0], { most: 9 * KB, goal: 7 * KB }),
    ];
  },
};

function figure(
  agent: string,
  first: Exchange | undefined,
  bound: { readonly most: number; readonly goal: number },
): Figure {
  if (first === undefined) throw new Error(`${agent} sent no request`);
  const bytes = { system: jsonBytes(first.body['system']), tools: jsonBytes(first.body['tools']) };
  return {
    what: `system + tools of the first request, ${agent}`,
    unit: 'bytes',
    samples: [bytes.system + bytes.tools],
    bound: { kind: 'most', ...bound },
    notes: [`system ${bytes.system}, tools ${bytes.tools}; Anthropic's form, no context files`],
  };
}

function jsonBytes(value: unknown): number {
  return value === undefined ? 0 : byteLength(JSON.stringify(value));
}
