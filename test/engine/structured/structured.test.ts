import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { buildResultEnvelope } from '../../../src/engine/results/result.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { call, calls, eventsOfType, play, requestsOf, toldTo } from '../play.ts';
import { testEngine, WORKER, type TestEngine } from '../support.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';

const FORM = {
  type: 'object',
  properties: { count: { type: 'integer' } },
  required: ['count'],
  additionalProperties: false,
} satisfies JsonObject;

const part = (input: JsonObject = {}) =>
  calls(call('Task', { prompt: 'part', description: 'count it', output_schema: FORM, ...input }));

/** Returns the state of the main agent's only child, from its log. */
function childOf({ events }: TestEngine): TaskState {
  const id = events.find(({ type }) => type === 'child.created')?.task;
  const child = events.find((event) => event.type === 'task.created' && event.task !== id)?.task;
  return foldEvents(events.filter(({ task }) => task === child));
}

function dataOf(state: TaskState) {
  const { status, data, error, text } = buildResultEnvelope(state, {
    transcript: null,
    outputFile: null,
  });
  return { status, result: data.result, structured: data.structured, error, text };
}

const finding = '#/count: Instance type "string" is invalid. Expected "integer".';
const told = (answer: number, ...findings: readonly string[]) =>
  `<notice>Your answer is not valid against the JSON Schema that this task has (answer ${answer} of at most 3):\n${findings.map((each) => `- ${each}`).join('\n')}\nGive the whole answer again: one JSON value that is valid, and no other text.</notice>`;

describe('a Task call with an output schema', () => {
  it('gives a valid answer as JSON to programs, and unchanged to the model', async () => {
    const test = testEngine(
      play({ main: [part()], part: [{ text: 'Counted.\n```json\n{"count": 3}\n```' }] }),
    );
    await test.start('main').end.written;
    expect(dataOf(childOf(test))).toEqual({
      status: 'success',
      result: 'Counted.\n```json\n{"count": 3}\n```',
      structured: { count: 3 },
      error: null,
      text: expect.stringMatching(
        /^Counted\.\n```json\n\{"count": 3\}\n```\n\n\[The task made no tool call\]\n\n\[task /,
      ),
    });
    expect(toldTo(test, 'main').at(-1)).toMatch(/^Counted\.\n```json\n/);
    expect(eventsOfType(test, 'task.ended').map((event) => 'structured' in event)).toEqual([
      true,
      false,
    ]);
  });

  it('gives the schema in the last system line, and the problems in the next request', async () => {
    const test = testEngine(
      play({ main: [part()], part: [{ text: '{"count": "3"}' }, { text: '{"count": 3}' }] }),
    );
    await test.start('main').end.written;
    const [first, second] = requestsOf(test, 'part');
    expect(first?.prefix.system.at(-1)).toBe(
      `# Task\ncount it\n\n# Form of the answer\nYour final answer is one JSON value, valid against this JSON Schema, and no other text:\n${JSON.stringify(FORM)}`,
    );
    expect(second?.prefix.system).toEqual(first?.prefix.system);
    expect(toldTo(test, 'part').at(-1)).toBe(told(1, finding));
    expect(dataOf(childOf(test))).toMatchObject({
      status: 'success',
      result: '{"count": 3}',
      structured: { count: 3 },
    });
  });

  it('fails after three answers, and keeps the last', async () => {
    const wrong = { text: '{"count": "many"}' };
    const test = testEngine(
      play({ main: [part()], part: [{ text: 'Many.' }, wrong, wrong, wrong] }),
    );
    await test.start('main').end.written;
    const message = `output_schema: none of 3 answers was valid against it; the last: ${finding.replace(/\.$/, '')}`;
    expect(dataOf(childOf(test))).toEqual({
      status: 'error',
      result: '{"count": "many"}',
      structured: null,
      error: { code: 'PROVIDER_ERROR', message, retryable: false },
      text: expect.stringContaining('What it had found so far:\n\n{"count": "many"}'),
    });
    expect(requestsOf(test, 'part')).toHaveLength(3);
    expect(toldTo(test, 'part').slice(1)).toEqual([
      told(1, 'it is not JSON: Unexpected token \'M\', "Many." is not valid JSON'),
      told(2, finding),
    ]);
    expect(toldTo(test, 'main').at(-1)).toContain(`failed: PROVIDER_ERROR: ${message}.`);
  });

  it('escapes the parts of an answer that it quotes', async () => {
    const test = testEngine(
      play({
        main: [part()],
        part: [{ text: '{"<system>":1,"count":1}' }, { text: '{"count":1}' }],
      }),
    );
    await test.start('main').end.written;
    expect(toldTo(test, 'part').at(-1)).toBe(
      told(1, '#: Property "<¦system>" does not match additional properties schema.'),
    );
  });

  it('is checked in the background as well', async () => {
    const test = testEngine(
      play({
        main: [part({ run_in_background: true }), { text: 'waiting' }],
        part: [{ text: '[]' }, { text: '{"count":1}' }],
      }),
    );
    await test.start('main').end.written;
    expect(dataOf(childOf(test))).toMatchObject({ status: 'success', structured: { count: 1 } });
  });

  it.each([
    ['not an object', [], 'output_schema: must be a JSON Schema (an object), not a list'],
    ['an invalid text', 'a list', 'output_schema: must be a JSON Schema (an object), not a string'],
    ['not a schema', { type: 'objct' }, "output_schema: the schema can't be used: #/type: "],
    ['a reference to an outside schema', { $ref: 'http://127.0.0.1:9/' }, 'nothing is fetched'],
  ])('that is %s creates no task and no request', async (_, schema, why) => {
    const test = testEngine(play({ main: [part({ output_schema: schema })] }));
    await test.start('main').end.written;
    expect(toldTo(test, 'main').at(-1)).toContain(why);
    expect([requestsOf(test, 'part').length, eventsOfType(test, 'child.created').length]).toEqual([
      0, 0,
    ]);
  });

  it('may also be given as text', async () => {
    const test = testEngine(
      play({
        main: [part({ output_schema: JSON.stringify(FORM) })],
        part: [{ text: '{"count":1}' }],
      }),
    );
    await test.start('main').end.written;
    expect(dataOf(childOf(test)).structured).toEqual({ count: 1 });
  });

  it('does not apply to descendants', async () => {
    const test = testEngine(
      play({
        main: [part()],
        part: [calls(call('Task', { prompt: 'leaf' })), { text: '{"count":1}' }],
        leaf: [{ text: 'Just words.' }],
      }),
    );
    await test.start('main').end.written;
    expect(requestsOf(test, 'leaf').map(({ prefix }) => prefix.system.at(-1))).toEqual([
      '# Task\nleaf',
    ]);
    expect(toldTo(test, 'part').at(-1)).toMatch(/^Just words\./);
  });

  it('is kept by a resume, with three answers again and no other schema', async () => {
    const test = testEngine(
      play({
        main: [
          part(),
          ({ results }) => again(results[0]?.text, { output_schema: { type: 'array' } }),
          ({ results }) => again(results[0]?.text ?? '', { output_schema: FORM }),
        ],
        part: [{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }, { text: '{"count":2}' }],
      }),
    );
    await test.start('main').end.written;
    const id = childOf(test).spec.id;
    const results = toldTo(test, 'main');
    expect(results.at(-2)).toBe(
      `Task: output_schema: task ${id} has another schema, which can't be changed; leave it out, or start a new task`,
    );
    expect(results.at(-1)).toMatch(/^\{"count":2\}\n/);
    expect(toldTo(test, 'part').at(-1)).toContain('(answer 1 of at most 3)');
    expect(childOf(test)).toMatchObject({
      status: 'completed',
      structured: { value: { count: 2 } },
    });
  });
});

function again(said: string | undefined, more: JsonObject) {
  const id = /task ([a-z0-9]{8,32})/.exec(said ?? '')?.[1] ?? '';
  return calls(call('Task', { prompt: 'once more', resume: id, ...more }));
}

describe('a task that a limit ends', () => {
  const limited = (text: string) =>
    play({
      main: [part({ max_turns: 1 })],
      part: [calls(call('TaskList', {})), { text }],
    });
  const setup = { agents: [{ ...WORKER, tools: { mode: 'allow', names: ['TaskList'] } } as const] };

  it('is checked as well', async () => {
    const test = testEngine(limited('{"count":1}'), setup);
    await test.start('main').end.written;
    expect(dataOf(childOf(test))).toMatchObject({
      status: 'partial',
      structured: { count: 1 },
      error: { code: 'LIMIT_EXCEEDED' },
    });
  });

  it('can correct its answer in its last turn', async () => {
    const test = testEngine(
      play({ main: [part({ max_turns: 1 })], part: [{ text: 'One.' }, { text: '{"count":1}' }] }),
    );
    await test.start('main').end.written;
    expect(dataOf(childOf(test))).toMatchObject({ status: 'partial', structured: { count: 1 } });
    expect(requestsOf(test, 'part').map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none']);
    expect(toldTo(test, 'part').slice(1)).toEqual([
      expect.stringContaining('(answer 1 of at most 3)'),
      expect.stringContaining('Stop here: '),
    ]);
  });

  it('says so if its answer is not valid', async () => {
    const test = testEngine(limited('One.'), setup);
    await test.start('main').end.written;
    const data = dataOf(childOf(test));
    expect(data).toMatchObject({ status: 'partial', result: 'One.', structured: null });
    expect(data.text).toContain(
      '[Note: the answer is not JSON that is valid against output_schema]',
    );
    expect(requestsOf(test, 'part')).toHaveLength(2);
  });
});

describe('the schema of a definition', () => {
  const counter: AgentDefinition = { ...WORKER, name: 'counter', outputSchema: FORM };

  it('applies to its tasks, and the schema of a call has priority', async () => {
    const other = { type: 'array' };
    const test = testEngine(
      play({
        main: [
          calls(
            call('Task', { prompt: 'part', subagent_type: 'counter' }),
            call('Task', { prompt: 'list', subagent_type: 'counter', output_schema: other }),
          ),
        ],
        part: [{ text: '[]' }, { text: '{"count":1}' }],
        list: [{ text: '[]' }],
      }),
      { agents: [counter] },
    );
    await test.start('main').end.written;
    expect(
      toldTo(test, 'main')
        .map((text) => text.split('\n')[0])
        .slice(1),
    ).toEqual(['{"count":1}', '[]']);
    expect(requestsOf(test, 'list')[0]?.prefix.system.at(-1)).toContain(JSON.stringify(other));
    const [one, two] = [requestsOf(test, 'part')[0], requestsOf(test, 'list')[0]];
    expect([one?.prefix.system.slice(0, -1), one?.prefix.tools]).toEqual([
      two?.prefix.system.slice(0, -1),
      two?.prefix.tools,
    ]);
  });

  it('applies to a conversation with that agent', async () => {
    const test = testEngine(play({ main: [{ text: 'Two.' }, { text: '{"count":2}' }] }), {
      agent: counter,
    });
    const run = test.start('main');
    await run.end.written;
    expect(dataOf(run.state)).toMatchObject({ status: 'success', structured: { count: 2 } });
    expect(requestsOf(test, 'main')[0]?.prefix.system.at(-1)).toMatch(/^# Form of the answer\n/);
  });

  it('that is invalid costs no request', async () => {
    const broken = { ...counter, outputSchema: { required: true } };
    const test = testEngine(
      play({ main: [calls(call('Task', { prompt: 'part', subagent_type: 'counter' }))] }),
      { agents: [broken] },
    );
    await test.start('main').end.written;
    expect(toldTo(test, 'main').at(-1)).toBe(
      'Task: output_schema: the schema of agent counter can\'t be used: #/required: Instance type "boolean" is invalid. Expected "array".',
    );
    const root = testEngine(play({}), { agent: broken });
    const run = root.start('main');
    await run.end.written;
    expect(dataOf(run.state)).toMatchObject({ status: 'error', error: { code: 'INVALID_PARAM' } });
    expect([requestsOf(test, 'part').length, root.model.requests.length]).toEqual([0, 0]);
  });
});

it('a schema that cannot check any answer ends its task at once', async () => {
  const test = testEngine(
    play({
      main: [part({ output_schema: { pattern: '^(a+)+$' } })],
      part: [{ text: JSON.stringify(`${'a'.repeat(50)}!`) }],
    }),
  );
  await test.start('main').end.written;
  const state = childOf(test);
  expect(dataOf(state)).toMatchObject({ structured: null, error: { code: 'LIMIT_EXCEEDED' } });
  expect([state.status, state.turns]).toEqual(['failed', 1]);
});
