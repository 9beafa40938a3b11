import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byteLength } from '../../src/base/text.ts';
import type { Rule } from '../../src/testing/rules.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { byTask, exchangesOf, startModelServer } from '../harness/model-server.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const FILES = 40;
const FILE_BYTES = 8_000;
const ANSWER_BYTES = 1_500;
const PROMPT = 'Where are the limits kept?';
const CHILD_PROMPT = 'Find where the limits are kept';

/** What reading forty files adds to the main agent's context when a child reads them, compared with reading them itself. */
export const mainContext: Row = {
  name: 'main-context',
  async measure({ bin }): Promise<readonly Measurement[]> {
    const delegated = await bytesAdded(bin, [
      {
        when: { promptIncludes: PROMPT, toolResults: 0 },
        answer: {
          toolCalls: [{ name: 'Task', input: { prompt: CHILD_PROMPT, subagent_type: 'Explore' } }],
        },
      },
      ...reading(CHILD_PROMPT),
      { when: { promptIncludes: PROMPT }, answer: { text: 'In src/0.ts.' } },
    ]);
    const alone = await bytesAdded(bin, reading(PROMPT));
    return [
      {
        title: `main context: ${FILES} files of ${FILE_BYTES} bytes read by a child, its answer of ${ANSWER_BYTES}`,
        unit: '%',
        samples: [(100 * delegated) / alone],
        bound: { kind: 'max', max: 3, goal: 1 },
        notes: [`${delegated} bytes, against ${alone} where the main agent reads them itself`],
      },
    ];
  },
};

/** Reads all files, ten per turn, and answers. */
function reading(prompt: string): readonly Rule[] {
  const turns = FILES / 10;
  return [
    ...Array.from({ length: turns }, (_, turn): Rule => ({
      when: { promptIncludes: prompt, toolResults: turn },
      answer: {
        toolCalls: Array.from({ length: 10 }, (_, at) => ({
          name: 'Read',
          input: { file_path: `src/${turn * 10 + at}.ts` },
        })),
      },
    })),
    {
      when: { promptIncludes: prompt },
      answer: { text: 'It is there. '.repeat(ANSWER_BYTES).slice(0, ANSWER_BYTES) },
    },
  ];
}

/** The bytes by which the main agent's last request is longer than its first. */
async function bytesAdded(bin: string, script: readonly Rule[]): Promise<number> {
  using fixture = new Fixture();
  mkdirSync(join(fixture.workspace, 'src'));
  for (let file = 0; file < FILES; file += 1) {
    writeFileSync(
      join(fixture.workspace, `src/${file}.ts`),
      'const limit = 16;\n'.repeat(FILE_BYTES).slice(0, FILE_BYTES),
    );
  }
  await using server = await startModelServer(fixture, script);
  const run = await runProgram([bin, '-p', PROMPT], {
    cwd: fixture.workspace,
    env: fixture.environment(fixture.newHome(), server.env('anthropic')),
  });
  const [main = []] = byTask(exchangesOf(run, await server.finish()));
  const [first, last] = [main[0], main.at(-1)];
  if (first === undefined || last === undefined) throw new Error('the main agent sent no request');
  return byteLength(last.rawBody) - byteLength(first.rawBody);
}
