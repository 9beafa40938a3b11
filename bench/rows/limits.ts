import type { Rule } from '../../src/testing/rules.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Have all parts looked at.';
const CHILD_PROMPT = 'Look at one part';
const CHILDREN = 12;
const TURNS = 5;
const LANES = 3;
const TURN_MS = 2_000;
/** The time after which Muster must have found out how many requests the server accepts. */
const ADAPTED_MS = 10_000;
const IDEAL_MS = (CHILDREN * TURNS * TURN_MS) / LANES;

/** More children than the server accepts requests at the same time. It refuses the others with 429 and `Retry-After: 1`. */
export const limits: Row = {
  name: 'limits',
  isLong: true,
  async measure({ bin }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    await using server = await startModelServer(fixture, script());
    const env = fixture.environment(fixture.newHome(), server.env('anthropic'));
    const run = await runProgram([bin, '-p', PROMPT], { cwd: fixture.workspace, env });
    const ofChildren = exchangesOf(run, await server.finish()).filter(isOfChild);
    const answered = ofChildren.filter(({ outcome }) => outcome.status === 200);
    if (answered.length !== CHILDREN * TURNS) {
      throw new Error(`${answered.length} requests were answered instead of ${CHILDREN * TURNS}`);
    }
    const startedAt = Math.min(...ofChildren.map(({ receivedAt }) => receivedAt));
    const endedAt = Math.max(...answered.map(({ outcome }) => outcome.lastByteAt ?? 0));
    const later = ofChildren.filter(({ receivedAt }) => receivedAt - startedAt >= ADAPTED_MS);
    const refused = ofChildren.length - answered.length;
    const refusedLater = later.filter(({ outcome }) => outcome.status === 429).length;
    return [
      {
        title: `${CHILDREN} children, ${LANES} requests accepted at a time`,
        unit: 'ms',
        samples: [endedAt - startedAt],
        reference: { title: `${LANES} lanes without a pause`, samples: [IDEAL_MS] },
        bound: { kind: 'ratio', max: 1.3, goal: 1.1 },
        notes: [`one run; ${TURNS} turns of ${TURN_MS} ms each, 429 with Retry-After: 1 above`],
      },
      {
        title: `of their requests, refused after ${ADAPTED_MS / 1000} s`,
        unit: '%',
        samples: [(100 * refusedLater) / later.length],
        bound: { kind: 'max', max: 5, goal: 5 },
        notes: [`${refusedLater} of ${later.length}; ${refused} of all ${ofChildren.length}`],
      },
    ];
  },
};

function isOfChild({ rawBody }: Exchange): boolean {
  return !rawBody.includes(PROMPT);
}

function script(): readonly Rule[] {
  const calls = numbers(CHILDREN).map((child) => ({
    name: 'Task',
    input: {
      description: `part ${child}`,
      prompt: `${CHILD_PROMPT}: ${child}.`,
      subagent_type: 'Explore',
    },
  }));
  const pace = { firstTokenMs: TURN_MS };
  return [
    {
      when: { inFlightAbove: LANES },
      answer: { fault: { kind: 'status', status: 429, retryAfterSeconds: 1 } },
    },
    ...numbers(TURNS - 1).map((turn): Rule => ({
      when: { promptIncludes: CHILD_PROMPT, toolResults: turn },
      answer: {
        text: `Now I look at it for the ${turn + 1}. time.`,
        toolCalls: [{ name: 'Grep', input: { pattern: `line ${turn}` } }],
        ...pace,
      },
    })),
    { when: { promptIncludes: CHILD_PROMPT }, answer: { text: 'It is one line.', ...pace } },
    { when: { promptIncludes: PROMPT, toolResults: 0 }, answer: { toolCalls: calls } },
    { answer: { text: 'All is done.' } },
  ];
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
