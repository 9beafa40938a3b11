import { describe, expect, it } from 'vitest';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { MAX_MENTIONS } from '../../../src/engine/prompt/mentions.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { toolCalls } from '../../../src/protocol/message.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { KillableStore } from '../killable-store.ts';
import { call, calls, eventsOfType, play, requestsOf, textsOf, until, type Play } from '../play.ts';
import { statesOf, testEngine, WORKER, type EngineSetup, type TestEngine } from '../support.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';
import { loadBuiltinAgents } from '../../../src/agents/builtin.ts';

/** The built-in agents. */
const AGENTS: readonly AgentDefinition[] = await loadBuiltinAgents();

/** Creates an engine. The prompts of the main agent begin with `main`. */
function engine(parts: Play, setup: EngineSetup = {}): TestEngine {
  return testEngine(play(parts), { agents: AGENTS, ...setup });
}

/** Returns the types of the main task's children, in the order of their creation. */
function childTypes(test: TestEngine): readonly string[] {
  const states = statesOf(test.events);
  const main = [...states.values()].find(({ spec }) => spec.parent === null);
  return [...(main?.children.keys() ?? [])].map((id) => states.get(id)?.spec.agent.name ?? '?');
}

const NOTICE =
  '<notice>The user chose who does this: your next message calls Task with subagent_type "Explore". Say in the prompt all that is needed for it.</notice>';

describe('an agent that a person mentions', () => {
  it('is called even if the model answers itself', async () => {
    const test = engine({ main: [{ text: 'I know that.' }, { text: 'Now I really do.' }] });
    const run = test.start('main @explore where is the parser?');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(run.state.result).toBe('Now I really do.');
    expect(childTypes(test)).toEqual(['Explore']);
    const [first, second] = requestsOf(test, 'main');
    expect(textsOf(first)).toEqual(['main @explore where is the parser?', NOTICE]);
    const [, answer, results] = second?.messages ?? [];
    expect(answer).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'I know that.' },
        {
          type: 'tool_call',
          id: 'mention_1_0',
          name: 'Task',
          input: {
            description: 'main @explore where is the parser?',
            prompt:
              'What the user said, naming you (@Explore):\n\nmain @explore where is the parser?',
            subagent_type: 'Explore',
          },
          by: 'user',
        },
      ],
    });
    expect(results?.role).toBe('tool');
    expect(eventsOfType(test, 'task.created', run.spec.id)[0]?.spec.mentions).toEqual(['Explore']);
  });

  it('is not called twice if the model calls it', async () => {
    const asked = call('Task', { prompt: 'child', type: 'EXPLORE' });
    const test = engine({ main: [calls(asked)] });
    const run = test.start('main @explore where?');
    await run.end.written;
    expect(childTypes(test)).toEqual(['Explore']);
    expect(run.state.toolCounts).toEqual(new Map([['Task', 1]]));
  });

  it('is called next to others that the model calls, each once', async () => {
    const asked = call('Task', { prompt: 'child', subagent_type: 'Plan' });
    const test = engine({ main: [calls(asked)] });
    await test.start('main ask @code-reviewer and @explore, and @review again').end.written;
    expect(childTypes(test)).toEqual(['Plan', 'Review', 'Explore']);
  });

  it('is called in place of a call that cannot be parsed', async () => {
    const broken = call('Task', { prompt: '', subagent_type: 'Explore' });
    const test = engine({ main: [calls(broken)] });
    const run = test.start('main @explore where?');
    await run.end.written;
    expect(childTypes(test)).toEqual(['Explore']);
    expect(eventsOfType(test, 'call.refused', run.spec.id)).toHaveLength(1);
  });

  it('is called once, and later answers are free', async () => {
    const test = engine({ main: [{ text: 'a' }, calls(call('Bash', { ms: 0 })), { text: 'b' }] });
    await test.start('main @explore where?').end.written;
    expect(childTypes(test)).toEqual(['Explore']);
  });

  it('is also called for a later message or a resume', async () => {
    const test = engine({ main: [{ text: 'first' }] });
    const run = test.start('main');
    await run.end.written;
    expect(childTypes(test)).toEqual([]);
    const resumed = await test.engine.resume(run.spec.id, {
      prompt: 'now @plan it',
      maxRights: (rights) => rights,
    });
    await resumed.end.written;
    expect(childTypes(test)).toEqual(['Plan']);
  });

  it('is called for a message to a task at work', async () => {
    const test = engine({ main: [calls(call('Bash', { ms: 30 }))] });
    const run = test.start('main');
    test.engine.send(run.spec.id, 'and @explore the rest');
    await run.end.written;
    expect(childTypes(test)).toEqual(['Explore']);
  });

  it('may be resumed instead of created', async () => {
    const test = engine({
      main: [
        calls(call('Task', { prompt: 'child', subagent_type: 'Explore' })),
        { text: 'done' },
        ({ request }) => {
          const id = /\[task ([a-z0-9]+) /.exec(textsOf(request).join('\n'))?.[1] ?? '';
          return calls(call('Task', { prompt: 'more', resume: id }));
        },
      ],
    });
    const run = test.start('main');
    await run.end.written;
    const more = {
      prompt: '@explore go on',
      maxRights: (rights: typeof run.permissions.rights) => rights,
    };
    await (
      await test.engine.resume(run.spec.id, more)
    ).end.written;
    expect(childTypes(test)).toEqual(['Explore']);
  });

  it('can still be refused by a rule', async () => {
    const source = { kind: 'flag', where: '--deny' } as const;
    const deny = [{ text: 'Task(Explore)', tool: 'Task', specifier: 'Explore', source }];
    const test = engine({ main: [] }, { deny });
    const run = test.start('main @explore where?');
    await run.end.written;
    expect(childTypes(test)).toEqual([]);
    expect(run.state.refusals).toEqual([expect.stringContaining('Task(Explore)')]);
  });
});

describe('no agent is called for', () => {
  it('a child, a tool result or a file that contains @name', async () => {
    const test = engine({
      main: [calls(call('Task', { prompt: 'child @plan it', subagent_type: 'general-purpose' }))],
      child: [{ text: 'ask @review and @explore' }],
    });
    await test.start('main').end.written;
    expect(statesOf(test.events).size).toBe(2);
    expect(requestsOf(test, 'child').flatMap(textsOf)).toEqual(['child @plan it']);
  });

  it('a word that is not the name of an agent', async () => {
    const test = engine({ main: [] });
    await test.start('main @somebody and me@explore').end.written;
    expect(textsOf(requestsOf(test, 'main')[0])).toEqual(['main @somebody and me@explore']);
    expect(childTypes(test)).toEqual([]);
  });

  it('an agent that the definition does not list: it causes a warning and no call', async () => {
    const lead: AgentDefinition = {
      ...WORKER,
      name: 'lead',
      delegatesTo: ['Plan'],
      tools: { mode: 'all', names: [] },
    };
    const test = engine({ main: [] }, { agent: lead });
    const run = test.start('main @explore where, @plan it?');
    await run.end.written;
    expect(childTypes(test)).toEqual(['Plan']);
    expect(run.state.refusals).toEqual([]);
    expect(run.state.warnings).toEqual([
      '@Explore is taken as text: the definition of lead does not list it',
    ]);
  });

  it('the mentions beyond the calls of one message: the first are called, the others are reported', async () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ ...WORKER, name: `own${at}` }));
    const test = engine({ main: [] }, { agents: many });
    const run = test.start(`main ${many.map(({ name }) => `@${name}`).join(' ')}`);
    await run.end.written;
    expect(childTypes(test)).toEqual(many.slice(0, MAX_MENTIONS).map(({ name }) => name));
    expect(run.state.warnings).toEqual([
      '@own16, @own17, @own18, @own19, @own20, @own21, @own22, @own23 and 6 more are taken as text: one message calls at most 16 agents by name',
    ]);
  });

  it('a mention in a task that cannot delegate: it causes a warning', async () => {
    const agent: AgentDefinition = {
      ...MAIN_AGENT,
      name: 'Reader',
      tools: { mode: 'allow', names: ['Bash'] },
      origin: WORKER.origin,
    };
    const test = engine({ main: [] }, { agent, settings: { nested: false } });
    const run = test.start('main @explore where?');
    await run.end.written;
    expect(run.state.warnings).toEqual([
      "@Explore is taken as text: the task that reads the message has no Task tool and can't delegate",
    ]);
    expect(textsOf(requestsOf(test, 'main')[0])).toEqual(['main @explore where?']);
  });
});

it('the history stays complete when a request is sent again after a failure', async () => {
  const failure = { kind: 'server', message: 'broken', retryable: false } as const;
  let isBroken = true;
  const test = engine({ main: [() => (isBroken ? { failure } : { text: 'an answer' })] });
  const run = test.start('main @explore where?');
  await run.end.written;
  expect(run.state.status).toBe('failed');
  isBroken = false;
  const resumed = await test.engine.resume(run.spec.id, {
    prompt: null,
    maxRights: (rights) => rights,
  });
  await resumed.end.written;
  expect(childTypes(test)).toEqual(['Explore']);
  const answers = resumed.state.conversation.messages.flatMap((message) =>
    message.role === 'assistant' ? [toolCalls(message).length] : [],
  );
  expect(answers).toEqual([1, 0]);
});

/**
 * Runs a task until its process dies at this batch of events, and resumes it from the log. Returns the state of the main
 * task, or null if the process did not die.
 */
async function survived(batch: number): Promise<TaskState | null> {
  const script = { main: [{ text: 'I know that.' }, { text: 'done' }] };
  const disk = openMemoryStore({});
  const mortal = new KillableStore(disk, { batch, several: false, kept: 0 }, async () => {});
  const first = engine(script, { store: mortal.store, onFault: () => {} });
  const run = first.start('main @explore where?');
  await Promise.race([run.end.written, until(() => mortal.isDead)]);
  if (!mortal.isDead) return null;
  const second = engine(script, { store: disk });
  const resumed = await second.engine.resume(run.spec.id, {
    prompt: null,
    maxRights: (rights) => rights,
  });
  await resumed.end.written;
  return resumed.state;
}

it('an agent is called once, wherever the process died', async () => {
  let deaths = 0;
  for (let batch = 2; ; batch += 1) {
    const state = await survived(batch);
    if (state === null) break;
    deaths += 1;
    expect([batch, state.status, state.children.size]).toEqual([batch, 'completed', 1]);
    expect([batch, state.toolCounts]).toEqual([batch, new Map([['Task', 1]])]);
  }
  expect(deaths).toBeGreaterThan(10);
});
