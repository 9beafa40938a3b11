import { expect, it } from 'vitest';
import type { AgentDefinition } from '../../../../src/protocol/agent.ts';
import type { ModelRequest } from '../../../../src/protocol/model.ts';
import type { AnyTool } from '../../../../src/protocol/tool.ts';
import { call, calls, eventsOfType } from '../../play.ts';
import { MODEL, statesOf, testEngine, waitTool, WORKER, type EngineSetup } from '../../support.ts';
import { byPrompt, requestsFor, type Answers } from './support.ts';

const SCOUT: AgentDefinition = {
  ...WORKER,
  name: 'scout',
  prompt: 'You scout.',
  mode: 'plan',
  effort: 'low',
  tools: { mode: 'allow', names: ['Read', 'Notify'] },
};

const readTool: AnyTool = {
  ...waitTool,
  name: 'Read',
  kind: 'read',
  replay: 'pure',
  describe: () => ({ reads: ['/a'], writes: [], commands: [], hosts: [] }),
  run: async () => ({ text: 'content', facts: { read: [{ path: '/a', hash: 'h' }] } }),
};

function engine(answers: Answers, setup: EngineSetup = {}) {
  return testEngine(byPrompt(answers), { tools: [waitTool, readTool], agents: [SCOUT], ...setup });
}

function fork(prompt: string, more: Readonly<Record<string, string>> = {}) {
  return call('Task', { prompt, description: prompt, context: 'inherit', ...more });
}

const OPEN_CALL_RESULT =
  '[Its outcome is not part of this conversation, which went on with a subagent here.]';

/** Returns the prefix and the first messages of a request. */
function upTo(request: ModelRequest | undefined, messages: number) {
  return { prefix: request?.prefix, messages: request?.messages.slice(0, messages) };
}

it('a forked conversation continues that of its parent, and its requests begin with the same bytes', async () => {
  const test = engine({
    main: [
      calls(call('Read', {})),
      calls(fork('one', { subagent_type: 'scout' }), fork('two', { subagent_type: 'scout' })),
    ],
    one: [calls(call('Bash', {}), call('Read', {}))],
  });
  const run = test.start('main');
  await run.end.written;
  const [, asked] = requestsFor(test.model.requests, 'main');
  const [one, later] = requestsFor(test.model.requests, 'one');
  const [two] = requestsFor(test.model.requests, 'two');
  expect(asked?.messages).toHaveLength(3);
  expect(upTo(one, 3)).toEqual(upTo(asked, 3));
  expect(upTo(two, 5)).toEqual(upTo(one, 5));
  expect(upTo(later, 6)).toEqual(upTo(one, 6));
  expect([one?.cacheKey, one?.effort, one?.maxOutputTokens, one?.model]).toEqual([
    asked?.cacheKey,
    asked?.effort,
    asked?.maxOutputTokens,
    asked?.model,
  ]);
  const tail = one?.messages.slice(3) ?? [];
  expect(tail.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
  expect(tail[1]?.content.map((part) => (part.type === 'tool_result' ? part.text : ''))).toEqual([
    OPEN_CALL_RESULT,
    OPEN_CALL_RESULT,
  ]);
  const [own, prompt] = tail[2]?.content ?? [];
  expect(prompt).toEqual({ type: 'text', text: 'one' });
  expect(own?.type === 'text' ? own.text : '').toMatchInlineSnapshot(`
    "<notice>Up to here this conversation was that of the agent which gives you the task below. It goes on with you, and this holds from here on:

    You are a subagent of Muster, a coding agent. Another agent gave you one task and reads only your final answer. Nobody can answer questions.
    Stay on the task and use the fewest calls that answer it. End with a concise result: the answer first, then the evidence as \`path:line\`, then what you did not find or could not do.

    Mode: plan, read-only. Change nothing: calls with effects are refused.

    # Agent type: scout
    You scout.

    Your tools: Read, Notify, Task. Calls of other tools are refused.

    # Task
    one
    </notice>"
  `);
  const child = [...statesOf(test.events).values()].find(({ spec }) => spec.prompt === 'one');
  expect(child?.spec.prefix).toBe(run.spec.prefix);
  expect(child?.spec.rights.mode).toBe('plan');
  expect(child?.knownFiles.get('/a')).toBe('h');
  const refused = eventsOfType(test, 'call.refused');
  expect(
    refused.map(({ tool, error, text, decision }) => ({ tool, error, text, decision })),
  ).toEqual([
    {
      tool: 'Bash',
      error: 'PERMISSION_DENIED',
      text: 'Bash is not among your tools: Read, Notify, Task. The conversation that you inherited had others.',
      decision: {
        verdict: 'deny',
        step: 'tool_set',
        reason:
          'Bash is not among your tools: Read, Notify, Task. The conversation that you inherited had others.',
      },
    },
  ]);
});

it('a forked context is passed on through several levels of tasks', async () => {
  const test = engine({
    main: [calls(call('Task', { prompt: 'middle', description: 'the middle' }))],
    middle: [calls(fork('below'))],
    below: [calls(fork('lowest'))],
  });
  await test.start('main').end.written;
  const [middle] = requestsFor(test.model.requests, 'middle');
  const [below] = requestsFor(test.model.requests, 'below');
  const [lowest] = requestsFor(test.model.requests, 'lowest');
  expect(middle?.prefix.system.at(-1)).toBe('# Task\nthe middle');
  expect(upTo(below, 1)).toEqual(upTo(middle, 1));
  expect(upTo(lowest, 4)).toEqual(upTo(below, 4));
  expect(lowest?.cacheKey).toBe(middle?.cacheKey);
});

it('another model in the call is an error', async () => {
  const test = engine({ main: [calls(fork('one', { model: 'other' }))] });
  const run = test.start('main');
  await run.end.written;
  expect(eventsOfType(test, 'call.ended').map(({ text }) => text)).toEqual([
    'Task: model: means scripted/other, but context: inherit continues your conversation, which runs on scripted/one. Leave model or context out.',
  ]);
  expect(test.model.requests).toHaveLength(2);
  expect(eventsOfType(test, 'child.created')).toEqual([]);
});

it('a fork uses the model of the conversation, whatever model its type runs on otherwise', async () => {
  const test = engine(
    { main: [calls(fork('one', { subagent_type: 'scout' }))] },
    {
      forTask: ({ call: named, parent, agent }) =>
        named === 'inherit' ? parent : { ...MODEL, id: agent.name },
    },
  );
  await test.start('main').end.written;
  expect(requestsFor(test.model.requests, 'one').map(({ model }) => model.id)).toEqual(['one']);
});

it('a type that has none of its parent’s tools is an error', async () => {
  const test = engine(
    {
      main: [calls(call('Task', { prompt: 'middle', subagent_type: 'coordinator' }))],
      middle: [calls(fork('below', { subagent_type: 'scout' }))],
    },
    {
      agents: [
        SCOUT,
        { ...WORKER, name: 'coordinator', tools: { mode: 'allow', names: ['Task'] } },
      ],
    },
  );
  await test.start('main').end.written;
  expect(eventsOfType(test, 'call.ended')[0]?.text).toEqual(
    expect.stringMatching(
      /^Task: context: `scout` can't be started: none of the tools that it asks for can be had here\. .*Read: You do not have it, and context: inherit keeps your tools\./,
    ),
  );
});

it('repeated calls of the parent are not counted against the fork', async () => {
  const test = engine({
    main: [
      ...Array.from({ length: 6 }, () => calls(call('Read', {}))),
      calls(fork('one', { subagent_type: 'scout' })),
    ],
    one: Array.from({ length: 6 }, () => calls(call('Read', {}))),
  });
  const run = test.start('main');
  await run.end.written;
  expect(run.state.status).toBe('completed');
  expect([...statesOf(test.events).values()].map(({ status }) => status)).toEqual([
    'completed',
    'completed',
  ]);
});

it('a fork that is resumed later continues with the same bytes', async () => {
  const test = engine({
    main: [
      calls(call('Read', {})),
      calls(fork('one', { subagent_type: 'scout' })),
      () =>
        calls(
          call('Task', {
            prompt: 'more',
            resume: eventsOfType(test, 'child.created')[0]?.child ?? '',
          }),
        ),
    ],
  });
  await test.start('main').end.written;
  const [one] = requestsFor(test.model.requests, 'one');
  const [more] = requestsFor(test.model.requests, 'more');
  expect(upTo(more, 6)).toEqual(upTo(one, 6));
});
