import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  lastUserText,
  startFakeModel,
  toolResultRounds,
  type Answer,
  type FakeModel,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf, runMuster, Sandbox } from './muster.ts';

const ARGUMENTS = '{"file_path": "a.txt"}';
const FORMS: readonly (readonly [WireProtocol, string])[] = [
  ['chat', `<tool_call>{"name": "Read", "arguments": ${ARGUMENTS}}</tool_call>`],
  [
    'anthropic',
    '<tool_call>Read\n<arg_key>file_path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>',
  ],
  [
    'responses',
    `<|start|>assistant<|channel|>commentary to=functions.Read <|constrain|>json<|message|>${ARGUMENTS}<|call|>`,
  ],
  ['google', '```tool_code\nprint(default_api.Read(file_path="a.txt"))\n```'],
];
const DELEGATE: Answer = {
  toolCalls: [
    {
      name: 'Task',
      input: { prompt: 'read a.txt', subagent_type: 'Explore', description: 'Read it' },
    },
  ],
};

let sandbox: Sandbox;
let model: FakeModel;

beforeEach(() => {
  sandbox = new Sandbox({ 'a.txt': 'CANARY-OF-A' });
});

afterEach(async () => {
  sandbox[Symbol.dispose]();
  await model.close();
});

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

async function run(script: (request: RecordedRequest) => Answer, protocol: WireProtocol = 'chat') {
  model = await startFakeModel({ script });
  const wire = protocol === 'responses' ? ['--model', 'openai/gpt-test'] : [];
  const finished = await runMuster(sandbox, ['-p', 'go', '--output-format', 'json', ...wire], {
    env: model.env(protocol),
  });
  return { finished, envelope: envelopeOf(finished) };
}

/** The main agent delegates, and says `done` then. */
function delegating(child: (request: RecordedRequest) => Answer) {
  return (request: RecordedRequest): Answer => {
    if (!isMain(request)) return child(request);
    return toolResultRounds(request) > 0 ? { text: 'done' } : DELEGATE;
  };
}

function resultOfTask(): string {
  return model.requests.findLast(isMain)?.messages.at(-1)?.toolResults[0]?.text ?? '';
}

describe.each(FORMS)('over %s, a child that writes a call as text', (protocol, written) => {
  it('is told about it, makes a proper call and completes', async () => {
    const { finished, envelope } = await run(
      delegating((request) => {
        if (toolResultRounds(request) > 0) return { text: 'It holds a canary.' };
        return lastUserText(request).includes('as text, and text runs nothing')
          ? { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] }
          : { text: `I will read the file.\n\n${written}` };
      }),
      protocol,
    );
    expect([finished.code, finished.stderr]).toEqual([0, '']);
    expect(envelope).toMatchObject({ status: 'success', data: { result: 'done' } });
    expect(resultOfTask()).toMatch(/^It holds a canary\.\n/);
    const told = model.requests.filter((request) => !isMain(request)).map(lastUserText);
    expect(told[1]).toContain('You wrote a call of Read as text');
    const [child] = Object.values(envelope.data.receipt.childReceipts);
    expect(child).toMatchObject({ tools: ['Read'] });
  });

  it('and nothing else fails, and its parent gets the reason', async () => {
    const { finished, envelope } = await run(
      delegating(() => ({ text: `I will read the file.\n\n${written}` })),
      protocol,
    );
    expect([finished.code, envelope.data.result]).toEqual([0, 'done']);
    expect(model.requests.filter((request) => !isMain(request))).toHaveLength(3);
    expect(resultOfTask()).toMatch(
      /^(?:\{"error":"<outside \w+>\\n)?The task ended as failed: PROVIDER_ERROR: \S+ wrote its tool calls as text \(form: .+\) in 3 answers in a row \(limit calls_as_text = 3\), so no tool ran\. Its server does not parse the tool calls of this model: start it with the parser for them /,
    );
  });
});

it('a main agent that writes nothing but calls as text fails, and says what to do', async () => {
  const { finished, envelope } = await run(() => ({ text: FORMS[0]?.[1] ?? '' }));
  expect(finished.code).toBe(1);
  expect(envelope).toMatchObject({
    status: 'error',
    data: { status: 'failed', tool_summary: [] },
    error: { code: 'PROVIDER_ERROR', retryable: false },
  });
  expect(envelope.error?.message).toContain('--tool-call-parser hermes');
  expect(model.requests).toHaveLength(3);
});

it('an answer that shows such a call in a code block is an answer', async () => {
  const text = `Qwen writes calls like this:\n\n\`\`\`\n${FORMS[0]?.[1]}\n\`\`\``;
  const { finished, envelope } = await run(() => ({ text }));
  expect([finished.code, envelope.data.result]).toEqual([0, text]);
  expect(model.requests).toHaveLength(1);
});

describe('a last message that only refers to the one before', () => {
  const REPORT = `## Report\n\n${'a.txt holds a canary. '.repeat(30).trim()}`;
  const POINTER = '(done — see the summary in my last message)';
  const reports =
    (last: string, report = REPORT) =>
    (request: RecordedRequest): Answer =>
      toolResultRounds(request) > 0
        ? { text: last }
        : { text: report, toolCalls: [{ name: 'LS', input: { path: '.' } }] };

  it('from a child: its parent gets both', async () => {
    const { finished } = await run(delegating(reports(POINTER)));
    expect(finished.code).toBe(0);
    expect(resultOfTask()).toContain(`${REPORT}\n\n${POINTER}\n\n[task `);
  });

  it('from the main agent: both are its result, also in its log', async () => {
    model = await startFakeModel({ script: reports(POINTER) });
    const options = { env: model.env('chat') };
    const args = ['-p', 'go', '--output-format', 'stream-json'];
    const finished = await runMuster(sandbox, args, options);
    const ended = eventsOf(finished).findLast((event) => event.type === 'task.ended');
    expect(ended).toMatchObject({ result: `${REPORT}\n\n${POINTER}` });
    const line = finished.stdout.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      type: 'result',
      data: { status: 'completed', result: `${REPORT}\n\n${POINTER}` },
    });
  });

  it('after a long report: the parent gets as much of it as its limit allows', async () => {
    const long = `START\n\n${'A paragraph of the report.\n\n'.repeat(1_000)}`;
    await run(delegating(reports(POINTER, long)));
    const text = resultOfTask();
    expect(text).toMatch(/^START\n/);
    expect(text).toMatch(/\[Cut at \d+ of \d+ characters\. The rest: TaskOutput\(task_id: /);
    expect(text.length).toBeLessThan(12_000);
  });

  it('after which only empty answers follow: the report is the result', async () => {
    const { finished, envelope } = await run(reports(''));
    expect(finished.code).toBe(1);
    expect(envelope.data).toMatchObject({ status: 'failed', result: REPORT });
  });

  it('that has content of its own is the only result', async () => {
    const { envelope } = await run(reports('The canary is in line 1.'));
    expect(envelope.data.result).toBe('The canary is in line 1.');
  });
});
