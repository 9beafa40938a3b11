import type { JsonObject } from '../../../src/base/json.ts';
import { describe, expect, it } from 'vitest';
import { formatResumeHint } from '../../../src/engine/results/task-report.ts';
import { call, calls, eventsOfType, play, textsOf, requestsOf, type Play } from '../play.ts';
import { statesOf, testEngine } from '../support.ts';

const HINT =
  '[To resume it with all that it knows: Task(resume: "ID", prompt: "what it is to do next")]';

const BROKEN = {
  failure: { kind: 'bad_request', message: 'the server said no', retryable: false },
} as const;
const FINDS = { text: 'found a thing', ...calls(call('Bash', {})) };

/** Returns the text that the main agent reads about a child with this script. The id of the child is replaced. */
async function readOf(part: Play[string], input: JsonObject = {}): Promise<string> {
  const test = testEngine(
    play({ main: [calls(call('Task', { prompt: 'part', ...input })), { text: 'done' }], part }),
  );
  await test.start('main').end.written;
  const id = eventsOfType(test, 'child.created')[0]?.child ?? '';
  const texts = requestsOf(test, 'main').flatMap((request) => textsOf(request));
  return texts.join('\n').replaceAll(id, 'ID');
}

describe('the result of a child says how to resume it', () => {
  it.each([
    [
      'that failed',
      [FINDS, BROKEN],
      {},
      'PROVIDER_ERROR: the server said no. What it had found so far:',
    ],
    [
      'that a limit ended',
      [FINDS, { text: 'so far' }],
      { max_turns: 1 },
      'LIMIT_EXCEEDED: the limit max_turns = 1',
    ],
  ] as const)('%s', async (_, part, input, error) => {
    const text = await readOf([...part], input);
    expect(text).toContain(error);
    expect(text).toContain(HINT);
  });

  it('also in the notice of a background child', async () => {
    const text = await readOf([FINDS, BROKEN], { run_in_background: true });
    expect(text).toMatch(/<notice>[^]*PROVIDER_ERROR[^]*Result: found a thing/);
    expect(text).toContain(HINT);
  });

  it('but not if the child completed', async () => {
    expect(await readOf([{ text: 'the answer' }])).not.toContain('To resume it');
  });
});

it('only a task that can delegate gets the hint, and only for tasks below it', async () => {
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'part' })), { text: 'done' }],
      part: [FINDS, BROKEN],
    }),
  );
  const run = test.start('main');
  await run.end.written;
  const child = [...statesOf(test.events).values()].find(({ spec }) => spec.parent !== null);
  if (child === undefined) throw new Error('no child was made');
  const { state } = run;
  const withTools = (...tools: readonly string[]) => ({ ...state, spec: { ...state.spec, tools } });
  expect(formatResumeHint(child, withTools('Task'))).toContain(child.spec.id);
  expect(formatResumeHint(child, withTools('Read', 'TaskOutput'))).toBe('');
  expect(formatResumeHint(child, { ...withTools('Task'), children: new Map() })).toBe('');
  for (const status of ['stopped', 'killed', 'interrupted', 'partial', 'failed'] as const) {
    expect(formatResumeHint({ ...child, status }, withTools('Task'))).not.toBe('');
  }
});
