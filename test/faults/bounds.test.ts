import { describe, expect, it } from 'vitest';
import { toolCalls } from '../../src/protocol/message.ts';
import type { Answer } from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

const MB = 2 ** 20;

/** The first request is answered with this, and each one after it with `done`. */
async function once(
  answer: (world: World) => Answer,
  check: (world: World, state: TaskState) => void,
) {
  await using world = await openWorld({
    protocol: 'anthropic',
    script: ({ messages }) => (messages.length === 1 ? answer(world) : { text: 'done' }),
  });
  check(world, await world.run('go'));
}

/** Each request is answered with this, as the nth. */
async function always(answer: (nth: number) => Answer) {
  let nth = 0;
  await using world = await openWorld({
    protocol: 'chat',
    script: ({ toolChoice }) => {
      nth += 1;
      return toolChoice === 'none' ? { text: 'I could not' } : answer(nth);
    },
  });
  const { status, end } = await world.run('go');
  return { status, because: end?.because, requests: world.fake.requests.length };
}

describe('one answer', () => {
  it('with 100 calls runs them all, and no more of a longer one', () =>
    once(
      (world) => ({
        toolCalls: Array.from({ length: 120 }, (_, index) => ({
          name: 'Write',
          input: { file_path: `${world.directory}/f${index}`, content: 'x' },
        })),
      }),
      (_, state) => {
        expect(state.status).toBe('completed');
        expect(Object.fromEntries(state.toolCounts)).toEqual({ Write: 100 });
        expect(Object.fromEntries(state.faults)).toEqual({ too_many_calls: 20 });
      },
    ));

  it.each([
    ['text', { fault: { kind: 'huge', megabytes: 20 } }, 'answer_bytes = 8388608'],
    ['thinking', { thinking: 'x'.repeat(20 * MB), chunks: 64 }, 'answer_bytes = 8388608'],
    [
      'arguments',
      {
        toolCalls: [{ name: 'Write', input: { file_path: 'x', content: 'x'.repeat(20 * MB) } }],
        chunks: 64,
      },
      'answer_bytes = 8388608',
    ],
    ['text in one line', { text: 'x'.repeat(20 * MB) }, 'answer_event_bytes = 16777216'],
  ] satisfies readonly (readonly [string, Answer, string])[])(
    'with 20 MB of %s is given up, and its limit is named',
    (_, answer, limit) =>
      once(
        () => answer,
        (world, state) => {
          expect(state).toMatchObject({ status: 'partial', result: '' });
          expect(state.end?.because).toContain(limit);
          expect(world.fake.requests).toHaveLength(1);
          expect(
            world.events.reduce((sum, event) => sum + JSON.stringify(event).length, 0),
          ).toBeLessThan(MB);
        },
      ),
  );

  it('with a call that prints 50 MB gets the beginning and the end of the output', () =>
    once(
      () => ({
        toolCalls: [
          {
            name: 'Bash',
            input: { command: 'head -c 50000000 /dev/zero | tr "\\0" x', description: 'print' },
          },
        ],
      }),
      (world, state) => {
        expect(state.status).toBe('completed');
        const sent = world.fake.requests[1]?.rawBody.length ?? 0;
        const before = world.fake.requests[0]?.rawBody.length ?? 0;
        expect(sent - before).toBeLessThan(60_000);
        expect(
          state.conversation.messages.flatMap((m) => (m.role === 'assistant' ? toolCalls(m) : [])),
        ).toHaveLength(1);
      },
    ));
});

describe('a model that only', () => {
  it('sends arguments that are not JSON is ended', async () => {
    expect(
      await always((nth) => ({
        toolCalls: [{ name: 'Bash', input: { command: `echo ${nth}` } }],
        fault: { kind: 'broken_tool_json' },
      })),
    ).toEqual({
      status: 'partial',
      because: 'the limit faulty_calls = 8 is reached (8 used)',
      requests: 9,
    });
  });

  it('calls tools that it does not have is ended', async () => {
    expect(await always((nth) => ({ toolCalls: [{ name: `Fly${nth}`, input: {} }] }))).toEqual({
      status: 'partial',
      because: 'the limit faulty_calls = 8 is reached (8 used)',
      requests: 9,
    });
  });

  it('writes calls as text is ended', async () => {
    expect(
      await always((nth) => ({
        text: `{"name": "Bash", "arguments": {"command": "echo ${nth}"}}`,
      })),
    ).toEqual({
      status: 'failed',
      because: expect.stringMatching(
        /^\w+\/\S+ wrote its tool calls as text \(form: JSON\) in 3 answers in a row \(limit calls_as_text = 3\), so no tool ran\. Its server does not parse the tool calls of this model: start it with /,
      ),
      requests: 3,
    });
  });

  it('gives empty answers is ended', async () => {
    expect(await always(() => ({ fault: { kind: 'empty' } }))).toEqual({
      status: 'failed',
      because: 'the model gave 3 empty answers in a row (limit empty_answers = 3)',
      requests: 3,
    });
  });

  it('reaches its output limit is ended', async () => {
    expect(await always((nth) => ({ text: `part ${nth} `, stop: 'length' }))).toEqual({
      status: 'partial',
      because:
        'the model reached its output limit in the middle of its answer, 4 times in a row (limit cut_answers = 4)',
      requests: 4,
    });
  });

  it('repeats one call is ended', async () => {
    expect(
      await always(() => ({ toolCalls: [{ name: 'LS', input: { path: '.' } }] })),
    ).toMatchObject({ status: 'partial', requests: 9 });
  });
});
