import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Usage } from '../../src/protocol/model.ts';
import { PromptCache } from '../../src/testing/prompt-cache.ts';
import type { Rule } from '../../src/testing/rules.ts';
import { CODECS } from '../../src/testing/wire/codecs.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { byTask, exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Have all modules looked at.';
const CHILD_PROMPT = 'Look at one module';
const CHILDREN = 8;
const TURNS = 10;
/** Long enough for all siblings to send a request before the first of them is answered, unless they are held back. */
const ANSWER_MS = 50;
const FILE_LINE = 'export const limit = 16; // how many at the same time\n';

/** Dollars per million tokens, from the vendor's price list for Claude Sonnet. */
const RATES = { input: 3, cacheRead: 0.3, cacheWrite: 3.75 };
/** A model with these prices that caches prefixes as short as these. The fast tier's model caches none below 4,096 tokens. */
const MODEL = 'anthropic/claude-sonnet-5';

/** The cost of the input of eight children with ten turns, compared with the same requests and less caching. */
export const cache: Row = {
  name: 'cache',
  async measure({ bin }): Promise<readonly Measurement[]> {
    const children = await childrenOf(bin);
    const sent = cost(children.flat().map(({ outcome }) => usageOf(outcome.usage)));
    const bare = cost(children.flat().map(uncached));
    const alone = cost(children.flatMap(withoutSiblings));
    const title = `input of ${CHILDREN} Explore siblings, ${TURNS} turns each`;
    const notes = [
      `at ${Object.values(RATES).join(', ')} USD per million for input, read, written`,
    ];
    return [
      {
        title,
        unit: 'cents',
        samples: [sent],
        reference: { title: 'the same requests without markers', samples: [bare] },
        bound: { kind: 'ratio', max: 0.4, goal: 0.25 },
        notes,
      },
      {
        title: `${title}, compared with no sharing`,
        unit: 'cents',
        samples: [sent],
        reference: { title: 'with markers, no sharing between tasks', samples: [alone] },
        bound: { kind: 'ratio', max: 1, goal: 0.95 },
      },
    ];
  },
};

async function childrenOf(bin: string): Promise<readonly (readonly Exchange[])[]> {
  using fixture = new Fixture();
  mkdirSync(join(fixture.workspace, 'src'));
  for (const turn of turns())
    writeFileSync(join(fixture.workspace, fileOf(turn)), FILE_LINE.repeat(40));
  await using server = await startModelServer(fixture, SCRIPT, { promptCache: {} });
  const run = await runProgram([bin, '-p', PROMPT], {
    cwd: fixture.workspace,
    env: fixture.environment(fixture.newHome(), {
      ...server.env('anthropic'),
      MUSTER_MODELS_FAST: MODEL,
    }),
  });
  const [, ...children] = byTask(exchangesOf(run, await server.finish()));
  if (children.length === CHILDREN && children.every(({ length }) => length === TURNS))
    return children;
  throw new Error(
    `${children.length} children came, with ${children.map(({ length }) => length).join()} turns`,
  );
}

const SCRIPT: readonly Rule[] = [
  {
    when: { promptIncludes: PROMPT, toolResults: 0 },
    answer: {
      toolCalls: Array.from({ length: CHILDREN }, (_, child) => ({
        name: 'Task',
        input: {
          description: `module ${child}`,
          prompt: `${CHILD_PROMPT}: ${child}.`,
          subagent_type: 'Explore',
        },
      })),
    },
  },
  { when: { promptIncludes: PROMPT }, answer: { text: 'All is done.' } },
  ...turns().map((turn): Rule => ({
    when: { promptIncludes: CHILD_PROMPT, toolResults: turn },
    answer: {
      text: 'Now the next file, which may well say it.',
      toolCalls: [{ name: 'Read', input: { file_path: fileOf(turn) } }],
      delayMs: ANSWER_MS,
    },
  })),
  { when: { promptIncludes: CHILD_PROMPT }, answer: { text: 'The answer is in src/0.ts:1.' } },
];

/** The turns in which a file is read. */
function turns(): readonly number[] {
  return Array.from({ length: TURNS - 1 }, (_, turn) => turn);
}

function fileOf(turn: number): string {
  return `src/${turn}.ts`;
}

type Input = Pick<Usage, 'input' | 'cacheRead' | 'cacheWrite'>;

function usageOf(usage: Usage | null): Usage {
  if (usage === null) throw new Error('a request was answered without usage');
  return usage;
}

function uncached({ outcome }: Exchange): Input {
  const { input, cacheRead, cacheWrite } = usageOf(outcome.usage);
  return { input: input + cacheRead + cacheWrite, cacheRead: 0, cacheWrite: 0 };
}

/** The usage of each request if the server's cache held nothing but the earlier requests of the same task. */
function withoutSiblings(task: readonly Exchange[]): readonly Input[] {
  const own = new PromptCache();
  const { listBlocks, cache: kind } = CODECS.anthropic;
  return task.map(({ body }) => {
    const { usage, commit } = own.lookup('', listBlocks(body), kind);
    commit();
    return usage;
  });
}

function cost(inputs: readonly Input[]): number {
  const perMillion = inputs.reduce(
    (sum, { input, cacheRead, cacheWrite }) =>
      sum + input * RATES.input + cacheRead * RATES.cacheRead + cacheWrite * RATES.cacheWrite,
    0,
  );
  return perMillion / 10_000;
}
