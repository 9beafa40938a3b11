import type { Rule } from '../../src/testing/rules.ts';
import type { Figure } from '../harness/figure.ts';
import { exchangesOf, startModelServer, type Exchange } from '../harness/model-server.ts';
import { Place } from '../harness/place.ts';
import { runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const PROMPT = 'Have all parts looked at.';
const CHILD_PROMPT = 'Look at one part';
const CHILDREN = 12;
const TURNS = 5;
const LANES = 3;
const TURN_MS = 2_000;
/** From then on what the server takes must have been found out. */
const LEARNT_MS = 10_000;
const IDEAL_MS = (CHILDREN * TURNS * TURN_MS) / LANES;

/** More children at once than the server takes: it refuses with 429 and `Retry-After: 1`. */
export const limits: Row = {
  name: 'limits',
  long: true,
  async measure({ bin }): Promise<readonly Figure[]> {
    using place = new Place();
    await using server = await startModelServer(place, script());
    const env = place.environment(place.newHome(), server.env('anthropic'));
    const run = await runProgram([bin, '-p', PROMPT], { cwd: place.workspace, env });
    const ofChildren = exchangesOf(run, await server.finish()).filter(isOfChild);
    const answered = ofChildren.filter(({ outcome }) => outcome.status === 200);
    if (answered.length !== CHILDREN * TURNS) {
      throw new Error(`${answered.length} requests were answered of ${CHILDREN * TURNS}`);
    }
    const startedAt = Math.min(...ofChildren.map(({ receivedAt }) => receivedAt));
    const endedAt = Math.max(...answered.map(({ outcome }) => outcome.lastByteAt ?? 0));
    const later = ofChildren.filter(({ receivedAt }) => receivedAt - startedAt >= LEARNT_MS);
    const refused = ofChildren.length - answered.length;
    const refusedLater = later.filter(({ outcome }) => outcome.status === 429).length;
    return [
      {
        what: `${CHILDREN} children, ${LANES} at a time taken`,
        unit: 'ms',
        samples: [endedAt - startedAt],
        floor: { what: `${LANES} lanes without a pause`, samples: [IDEAL_MS] },
        bound: { kind: 'ratio', most: 1.3, goal: 1.1 },
        notes: [`one run; ${TURNS} turns of ${TURN_MS} ms each, 429 with Retry-After: 1 above`],
      },
      {
        what: `of them refused after ${LEARNT_MS / 1000} s`,
        unit: '%',
        samples: [(100 * refusedLater) / later.length],
        bound: { kind: 'most', most: 5, goal: 5 },
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
