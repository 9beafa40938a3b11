import { plural } from '../../src/base/text.ts';
import type { ScriptedAnswer } from '../../src/testing/answer.ts';
import type { Rule } from '../../src/testing/rules.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { exchangesOf, startModelServer } from '../harness/model-server.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Delegate what has to be delegated.';
const CHILD_PROMPT = 'Find out one thing.';

interface Case {
  readonly title: string;
  /** The answer to each request of the child. */
  readonly answer: ScriptedAnswer;
  readonly settings: Readonly<Record<string, string>>;
  /** The time after which the settings end the child, or null when no time limit does. */
  readonly limitMs: number | null;
}

const text = 'a long answer that never ends';

const CASES: readonly Case[] = [
  {
    title: 'provider accepts, stays silent → parent notified',
    answer: { text, fault: { kind: 'hang' } },
    settings: { MUSTER_LIVENESS_FIRST_TOKEN_SECONDS: '2', MUSTER_LIVENESS_SILENT_RETRIES: '0' },
    limitMs: 2000,
  },
  {
    title: 'the same with one retry',
    answer: { text, fault: { kind: 'hang' } },
    settings: { MUSTER_LIVENESS_FIRST_TOKEN_SECONDS: '2' },
    limitMs: 4000,
  },
  {
    title: 'half an event, then silence, with one retry',
    answer: { text, chunks: 4, fault: { kind: 'hang_after' } },
    settings: { MUSTER_LIVENESS_STREAM_IDLE_SECONDS: '2' },
    limitMs: 4000,
  },
  {
    title: 'endless thinking',
    answer: { fault: { kind: 'thinking_forever' } },
    settings: { MUSTER_TASK_TOOL_TASK_WALL_SECONDS: '3' },
    limitMs: 3000,
  },
  {
    title: 'the same call again and again',
    answer: { toolCalls: [{ name: 'LS', input: { path: '.' } }] },
    settings: {},
    limitMs: null,
  },
];

/** The time from a child's first request to the parent's request that reports its end, for children that never answer. */
export const liveness: Row = {
  name: 'liveness',
  async measure({ bin }): Promise<readonly Measurement[]> {
    const measurements: Measurement[] = [];
    for (const tested of CASES) measurements.push(await measureCase(tested, bin));
    return measurements;
  },
};

async function measureCase(tested: Case, bin: string): Promise<Measurement> {
  using fixture = new Fixture();
  const samples: number[] = [];
  let requests = 0;
  for (const isBackground of [false, true]) {
    const run = await runCase(tested, { bin, fixture, isBackground });
    samples.push(run.ms);
    requests = run.requests;
  }
  const { title, limitMs } = tested;
  const maxMs = limitMs === null ? null : limitMs + Math.max(limitMs / 20, 500);
  const limit = limitMs === null ? 'no time limit applies' : `configured: ${limitMs} ms`;
  return {
    title,
    unit: 'ms',
    samples,
    ...(maxMs === null ? {} : { bound: { kind: 'max', max: maxMs, goal: maxMs } }),
    notes: [`${limit}; ${plural(requests, 'request')} of the child; foreground and background`],
  };
}

interface Delegation {
  readonly bin: string;
  readonly fixture: Fixture;
  readonly isBackground: boolean;
}

async function runCase(tested: Case, { bin, fixture, isBackground }: Delegation) {
  await using server = await startModelServer(fixture, script(tested.answer, isBackground));
  const env = {
    ...fixture.environment(fixture.newHome(), server.env('anthropic')),
    ...tested.settings,
  };
  const run = await runProgram([bin, '-p', PROMPT], { cwd: fixture.workspace, env });
  const exchanges = exchangesOf(run, await server.finish());
  const ofChild = exchanges.filter(({ rawBody }) => !rawBody.includes(PROMPT));
  const notified = exchanges.findLast(({ rawBody }) => rawBody.includes(PROMPT));
  const [first] = ofChild;
  if (first === undefined || notified === undefined) throw new Error('the parent was not notified');
  return { ms: notified.receivedAt - first.receivedAt, requests: ofChild.length };
}

function script(answer: ScriptedAnswer, isBackground: boolean): readonly Rule[] {
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
