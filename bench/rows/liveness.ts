import { plural } from '../../src/base/text.ts';
import type { Answer } from '../../src/testing/answer.ts';
import type { Rule } from '../../src/testing/rules.ts';
import type { Figure } from '../harness/figure.ts';
import { exchangesOf, startModelServer } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Delegate what has to be delegated.';
const CHILD_PROMPT = 'Find out one thing.';

interface Case {
  readonly what: string;
  /** What the child's model says to each of its requests. */
  readonly answer: Answer;
  readonly settings: Readonly<Record<string, string>>;
  /** What the settings come to; null: no time limit ends it. */
  readonly limitMs: number | null;
}

const text = 'a long answer that does not come to its end';

const CASES: readonly Case[] = [
  {
    what: 'provider accepts, stays silent → parent told',
    answer: { text, fault: { kind: 'hang' } },
    settings: { MUSTER_LIVENESS_FIRST_TOKEN_SECONDS: '2', MUSTER_LIVENESS_SILENT_RETRIES: '0' },
    limitMs: 2000,
  },
  {
    what: 'the same, tried once more',
    answer: { text, fault: { kind: 'hang' } },
    settings: { MUSTER_LIVENESS_FIRST_TOKEN_SECONDS: '2' },
    limitMs: 4000,
  },
  {
    what: 'half an event, then silence, tried once more',
    answer: { text, chunks: 4, fault: { kind: 'hang_after' } },
    settings: { MUSTER_LIVENESS_STREAM_IDLE_SECONDS: '2' },
    limitMs: 4000,
  },
  {
    what: 'thinking that drips for ever',
    answer: { fault: { kind: 'thinking_forever' } },
    settings: { MUSTER_TASK_TOOL_TASK_WALL_SECONDS: '3' },
    limitMs: 3000,
  },
  {
    what: 'the same call for ever',
    answer: { toolCalls: [{ name: 'LS', input: { path: '.' } }] },
    settings: {},
    limitMs: null,
  },
];

/** From a child's first request to the parent's request that tells of its end, over what is configured. */
export const liveness: Row = {
  name: 'liveness',
  async measure({ bin }): Promise<readonly Figure[]> {
    const figures: Figure[] = [];
    for (const tested of CASES) figures.push(await measureCase(tested, bin));
    return figures;
  },
};

async function measureCase(tested: Case, bin: string): Promise<Figure> {
  using place = new Place();
  const samples: number[] = [];
  let requests = 0;
  for (const isBackground of [false, true]) {
    const run = await outOf(tested, { bin, place, isBackground });
    samples.push(run.ms);
    requests = run.requests;
  }
  const { what, limitMs } = tested;
  const mostMs = limitMs === null ? null : limitMs + Math.max(limitMs / 20, 500);
  const limit = limitMs === null ? 'no time limit acts' : `configured: ${limitMs} ms`;
  return {
    what,
    unit: 'ms',
    samples,
    ...(mostMs === null ? {} : { bound: { kind: 'most', most: mostMs, goal: mostMs } }),
    notes: [`${limit}; ${plural(requests, 'request')} of the child; foreground and background`],
  };
}

interface Delegation {
  readonly bin: string;
  readonly place: Place;
  readonly isBackground: boolean;
}

async function outOf(tested: Case, { bin, place, isBackground }: Delegation) {
  await using server = await startModelServer(place, script(tested.answer, isBackground));
  const env = {
    ...place.environment(place.newHome(), server.env('anthropic')),
    ...tested.settings,
  };
  const run = await runProgram([bin, '-p', PROMPT], { cwd: place.workspace, env });
  const exchanges = exchangesOf(run, await server.finish());
  const ofChild = exchanges.filter(({ rawBody }) => !rawBody.includes(PROMPT));
  const told = exchanges.findLast(({ rawBody }) => rawBody.includes(PROMPT));
  const [first] = ofChild;
  if (first === undefined || told === undefined) throw new Error('the parent was told nothing');
  return { ms: told.receivedAt - first.receivedAt, requests: ofChild.length };
}

function script(answer: Answer, isBackground: boolean): readonly Rule[] {
  const input = {
    description: 'look it up',
    prompt: CHILD_PROMPT,
    subagent_type: 'Explore',
    run_in_background: isBackground,
  };
  return [
    {
      when: { promptIncludes: PROMPT, toolResults: 0 },
      answer: { toolCalls: [{ name: 'Task', input }] },
    },
    { when: { promptIncludes: PROMPT }, answer: { text: 'All is done.' } },
    { when: { promptIncludes: CHILD_PROMPT }, answer },
  ];
}
