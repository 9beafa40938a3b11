import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import {
  firstUserText,
  lastUserText,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Answer,
  type FakeModel,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { clean, family, tasks } from './tasks.ts';
import { openWorld } from './world.ts';

const FORM = {
  type: 'object',
  properties: { files: { type: 'array', items: { type: 'string' } }, total: { type: 'integer' } },
  required: ['files', 'total'],
};
const WRONG = '{"files": ["a.txt"], "total": "one"}';
const RIGHT = '{"files": ["a.txt"], "total": 1}';
const FINDING = '#/total: Instance type "string" is invalid. Expected "integer".';

function isChild(request: RecordedRequest): boolean {
  return firstUserText(request).startsWith('part');
}

function childRequests(model: FakeModel): readonly RecordedRequest[] {
  return model.requests.filter(isChild);
}

/** Answers that the task has given before the one that is asked for. */
function answersIn(request: RecordedRequest): number {
  return request.messages.filter(({ role }) => role === 'assistant').length;
}

/** One child with a schema, which gives these answers in turn. */
function counting(answers: readonly Answer[]): (request: RecordedRequest) => Answer {
  return (request) => {
    if (isChild(request)) return answers[answersIn(request)] ?? { text: 'too many answers' };
    if (toolResultRounds(request) > 0) return { text: 'done' };
    const input = { prompt: 'part 1', description: 'count files', output_schema: FORM };
    return { toolCalls: [{ name: 'Task', input }] };
  };
}

function endsOf(events: readonly TaskEvent[]) {
  return events.flatMap((event) => (event.type === 'task.ended' ? [event] : []));
}

describe.concurrent.each(WIRE_PROTOCOLS)('over %s', (protocol) => {
  it('an invalid answer is corrected with the errors of the validator', async () => {
    await using world = await openWorld({
      protocol,
      script: counting([{ text: WRONG }, { text: RIGHT }]),
    });
    const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const [first, second, ...more] = childRequests(world.model);
    expect(more).toEqual([]);
    expect(JSON.stringify(first?.body)).toContain('# Form of the answer');
    expect(lastUserText(second ?? fail())).toContain(`- ${FINDING}\n`);
    const [child] = endsOf(eventsOf(run));
    expect(child).toMatchObject({
      end: { status: 'completed' },
      result: RIGHT,
      structured: { files: ['a.txt'], total: 1 },
    });
  });

  it('the third invalid answer ends the task, and its text is kept', async () => {
    const wrong = { text: WRONG };
    await using world = await openWorld({ protocol, script: counting([wrong, wrong, wrong]) });
    const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(childRequests(world.model)).toHaveLength(3);
    const message = `output_schema: none of 3 answers was valid against it; the last: ${FINDING.replace(/\.$/, '')}`;
    expect(endsOf(eventsOf(run))[0]).toMatchObject({
      end: { status: 'failed', error: { code: 'PROVIDER_ERROR', message, retryable: false } },
      result: WRONG,
    });
    const told = world.model.requests.at(-1)?.messages.flatMap(({ toolResults }) => toolResults);
    const text = told?.[0]?.text ?? '';
    // Errors are JSON over Responses.
    const shown = protocol === 'responses' ? (JSON.parse(text) as { error: string }).error : text;
    expect(shown).toContain(`${message}. What it had found so far:\n\n${WRONG}`);
  });
});

function fail(): never {
  throw new Error('there is no such request');
}

describe.concurrent('the answers of a task with a schema', () => {
  it('are counted across a kill -9 between them, and a rerun counts the same', async () => {
    let hangs = true;
    const answer = (request: RecordedRequest): Answer => {
      const isSecond = isChild(request) && answersIn(request) === 1;
      if (isSecond && hangs) return { fault: { kind: 'hang' } };
      return counting([{ text: 'a' }, { text: 'b' }, { text: 'c' }])(request);
    };
    await using world = await openWorld({ script: answer });
    const first = world.start(['-p', 'go']);
    await world.model.received(3);
    first.process.kill('SIGKILL');
    await first.finished;
    hangs = false;
    const second = await world.run(['--continue', '--output-format', 'json']);
    expect([second.code, second.stderr]).toEqual([0, '']);
    const requests = childRequests(world.model);
    expect(requests.map(answersIn)).toEqual([0, 1, 1, 2]);
    // The lost request once more, byte for byte.
    expect(JSON.stringify(requests[2]?.body)).toBe(JSON.stringify(requests[1]?.body));
    const { root, children } = await family(world);
    const [child = ''] = children;
    const events = eventsOf(await tasks(world, 'log', child, '--json'));
    const told = events.flatMap((event) =>
      event.type === 'input.queued' && event.input.kind === 'notice' ? [event.input.id] : [],
    );
    expect(told).toEqual(['schema-0-1', 'schema-0-2']);
    expect(endsOf(events)[0]?.end).toMatchObject({ status: 'failed' });
    expect(clean(await tasks(world, 'rerun', root))).toMatch(
      /^\w+ {2}main: \d+ events, identical\n\w+ {2}general-purpose: \d+ events, identical\n$/,
    );
  });

  it('of two siblings share each request up to the last line of the system prompt', async () => {
    const other = { type: 'array' };
    await using world = await openWorld({
      script: (request) => {
        if (isChild(request)) {
          return { text: firstUserText(request) === 'part 1' ? RIGHT : '[]' };
        }
        if (toolResultRounds(request) > 0) return { text: 'done' };
        const task = (prompt: string, schema: JsonObject | null) => ({
          name: 'Task',
          input: {
            prompt,
            subagent_type: 'Explore',
            ...(schema === null ? {} : { output_schema: schema }),
          },
        });
        return { toolCalls: [task('part 1', FORM), task('part 2', other), task('part 3', null)] };
      },
    });
    const run = await world.run(['-p', 'go']);
    expect(run.code).toBe(0);
    const systems = childRequests(world.model).map(({ body }) => partsOf(body));
    expect(new Set(systems.map(({ tools }) => tools)).size).toBe(1);
    expect(new Set(systems.map(({ shared }) => shared)).size).toBe(1);
    expect(new Set(systems.map(({ last }) => last)).size).toBe(3);
  });
});

/** Of a body of Anthropic's. */
function partsOf(body: Readonly<Record<string, unknown>>) {
  const { system, tools } = body;
  const texts: readonly { readonly text: string }[] = Array.isArray(system) ? system : [];
  return {
    tools: JSON.stringify(tools),
    shared: texts
      .slice(0, -1)
      .map(({ text }) => text)
      .join('\n'),
    last: texts.at(-1)?.text,
  };
}

describe.concurrent('--output-schema', () => {
  it('puts a valid answer into the envelope', async () => {
    await using world = await openWorld({
      files: { 'form.json': JSON.stringify(FORM) },
      script: (request) => ({
        text: answersIn(request) === 0 ? WRONG : `\`\`\`json\n${RIGHT}\n\`\`\``,
      }),
    });
    const run = await world.run([
      '-p',
      'go',
      '--output-schema',
      'form.json',
      '--output-format',
      'json',
    ]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(envelopeOf(run)).toMatchObject({
      status: 'success',
      data: { structured: { files: ['a.txt'], total: 1 }, turns: 2 },
      context: { params_input: { prompt: 'go', output_schema: FORM } },
    });
  });

  it('ends with 1 if no answer is valid', async () => {
    await using world = await openWorld({ script: () => ({ text: 'No.' }) });
    const run = await world.run(['-p', 'go', '--output-schema', JSON.stringify(FORM)]);
    expect([run.code, run.stdout]).toEqual([1, 'No.\n']);
    expect(run.stderr).toMatch(/^muster: failed: PROVIDER_ERROR: output_schema: none of 3 answers/);
    expect(world.model.requests).toHaveLength(3);
  });

  it.each([
    ['{"type": "objct"}', '--output-schema: #/type: Instance does not match any subschemas.'],
    ['{"type": ', '--output-schema: Unexpected end of JSON input'],
    ['nowhere.json', '--output-schema nowhere.json does not exist'],
    ['list.json', '--output-schema list.json: must be a JSON Schema, an object'],
    [
      'lines.txt',
      `--output-schema lines.txt: Unexpected token 'a', "a line b" is not valid JSON\n`,
    ],
  ])('that is %s is a usage error and no request', async (schema, message) => {
    await using world = await openWorld({ files: { 'list.json': '[]', 'lines.txt': 'a line\nb' } });
    const run = await world.run(['-p', 'go', '--output-schema', schema]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(message);
    expect(world.model.requests).toEqual([]);
  });
});

it('an unusable schema of a definition is reported by agents check', async () => {
  const file = (schema: string) =>
    `---\nname: counter\ndescription: Counts files. Use to count files.\noutput-schema: ${schema}\n---\nCount.\n`;
  await using world = await openWorld({
    files: {
      '.muster/agents/good.md': file('{type: object, required: [total]}'),
      '.muster/agents/bad.md': file('{type: object, required: true}'),
    },
  });
  const good = await world.run(['agents', 'check', '.muster/agents/good.md']);
  expect([good.code, good.stdout]).toEqual([0, expect.not.stringContaining('output')]);
  const bad = await world.run(['agents', 'check', '.muster/agents/bad.md']);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain(
    'error    line 4: It cannot be started, because the schema of its answers cannot be used: #/required: Instance type "boolean" is invalid. Expected "array". [invalid-output-schema]',
  );
});
