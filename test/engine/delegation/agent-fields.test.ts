import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { MusterError, UsageError } from '../../../src/base/errors.ts';
import { planChild } from '../../../src/engine/delegation/plan-child.ts';
import type { AgentDefinition, AgentLimits } from '../../../src/protocol/agent.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import type { TaskLimits } from '../../../src/protocol/task.ts';
import { call, calls, eventsOfType, play, requestsOf, toldTo } from '../play.ts';
import {
  answerAll,
  MODEL,
  rootRights,
  SETTINGS,
  testEngine,
  waitTool,
  WORKER,
  type EngineSetup,
} from '../support.ts';

function agent(name: string, parts: Partial<AgentDefinition> = {}): AgentDefinition {
  const origin = { scope: 'session', vendor: 'muster', path: `session:${name}` } as const;
  return { ...WORKER, name, origin, ...parts };
}

const scout = agent('scout', { aliases: ['finder'] });
const builder = agent('Builder');

/** Runs one Task call of the root, and returns its result. */
async function answerTo(input: JsonObject, setup: EngineSetup) {
  const script = play({ root: [calls(call('Task', input))] });
  const test = testEngine(script, setup);
  await test.start('root').end.written;
  const [ended] = eventsOfType(test, 'call.ended');
  const requests = test.model.requests.length;
  return { text: ended?.text ?? '', error: ended?.error, requests, test };
}

describe('an agent that lists the agents that it may delegate to', () => {
  const lead = agent('lead', { delegatesTo: ['FINDER', 'builder', 'nobody'] });
  const setup = { agent: lead, agents: [lead, scout, builder] };

  it.each(['scout', 'Finder', 'BUILDER'])('starts %s', async (type) => {
    const { error, requests } = await answerTo({ prompt: 'x', subagent_type: type }, setup);
    expect([error, requests]).toEqual([null, 3]);
  });

  it.each([
    [
      'an agent that is not in the list',
      { prompt: 'x', subagent_type: 'lead' },
      'Task: subagent_type: `lead` may not delegate to `lead`: its definition does not list it. Valid: scout, Builder.',
    ],
    [
      'the default agent when the call names none',
      { prompt: 'x' },
      'Task: subagent_type: `lead` may not delegate to `general-purpose`: its definition does not list it. Valid: scout, Builder.',
    ],
  ])('%s costs no request, and the error names the valid agents', async (_, input, message) => {
    const { text, error, requests } = await answerTo(input, setup);
    expect([text, error, requests]).toEqual([message, 'INVALID_PARAM', 2]);
  });

  it('names the listed agents for an unknown type', async () => {
    const { text, error } = await answerTo({ prompt: 'x', subagent_type: 'cook' }, setup);
    expect([text, error]).toEqual([expect.stringContaining('Valid: '), 'INVALID_PARAM']);
    expect(text).toMatch(/scout, Builder/);
    expect(text).not.toContain('general-purpose');
  });

  it('resolves a name like everybody else, so that rules apply to the agent that is started', async () => {
    // `scout` is the name of one agent and an alias of the other agent.
    const shadow = agent('shadow', { aliases: ['scout'] });
    const only = agent('lead', { delegatesTo: ['shadow'] });
    const among = { agent: only, agents: [scout, shadow] };
    const { text, error } = await answerTo({ prompt: 'x', subagent_type: 'scout' }, among);
    expect([text, error]).toEqual([
      'Task: subagent_type: `lead` may not delegate to `scout`: its definition does not list it. Valid: shadow.',
      'INVALID_PARAM',
    ]);
  });

  it('sees only the listed agents, and its children choose by their own definitions', async () => {
    const deep = { prompt: 'deep', subagent_type: 'lead' };
    const test = testEngine(
      play({
        root: [calls(call('Task', { prompt: 'first', subagent_type: 'scout' }))],
        first: [calls(call('Task', deep))],
      }),
      setup,
    );
    await test.start('root').end.written;
    const listed = (name: string) =>
      (requestsOf(test, name)[0]?.prefix.system.join('\n') ?? '')
        .split('\n')
        .flatMap((line) => /^- (lead|scout|Builder|general-purpose)\b/.exec(line)?.[1] ?? []);
    expect(listed('root')).toEqual(['scout', 'Builder']);
    expect(listed('first').toSorted()).toEqual(['Builder', 'general-purpose', 'lead', 'scout']);
    expect(requestsOf(test, 'deep').length).toBe(1);
  });

  it('has no Task if none of the listed agents exists', async () => {
    const alone = agent('alone', { delegatesTo: ['nobody'] });
    const test = testEngine(play({}), { agent: alone });
    await test.start('root').end.written;
    const tools = test.model.requests[0]?.prefix.tools.map(({ name }) => name);
    expect(tools).toContain('Bash');
    expect(tools).not.toContain('Task');
  });
});

describe('an agent that only a person can choose', () => {
  const own = agent('own', { unlisted: true });

  const listed = async (setup: EngineSetup): Promise<boolean | undefined> => {
    const test = testEngine(play({}), setup);
    await test.start('root').end.written;
    return test.model.requests[0]?.prefix.system.join('\n').includes('- own');
  };

  it('is offered to no model, unless a definition lists it', async () => {
    const lead = agent('lead', { delegatesTo: ['own'] });
    expect(await listed({ agents: [own, scout] })).toBe(false);
    expect(await listed({ agents: [{ ...own, unlisted: false }, scout] })).toBe(true);
    expect(await listed({ agent: lead, agents: [lead, own] })).toBe(true);
  });

  it('can be started by a model that knows its name', async () => {
    const { error } = await answerTo({ prompt: 'x', subagent_type: 'own' }, { agents: [own] });
    expect(error).toBe(null);
  });
});

describe('an agent whose definition asks for the background', () => {
  const guard = agent('guard', { background: true });
  const setup = { agents: [guard] };

  it('runs in the background if the call does not say otherwise', async () => {
    const { text } = await answerTo({ prompt: 'watch', subagent_type: 'guard' }, setup);
    expect(text).toMatch(/^Task [a-z0-9]+ runs in the background/);
  });

  it.each([
    [{ prompt: 'watch', subagent_type: 'guard', run_in_background: false }, /^done/],
    [{ prompt: 'work' }, /^done/],
    [{ prompt: 'work', run_in_background: true }, /runs in the background/],
  ])('%j: the call decides', async (input, expected) => {
    expect((await answerTo(input, setup)).text).toMatch(expected);
  });

  it('also runs in the background when it is resumed', async () => {
    let id = '';
    const test = testEngine(
      play({
        root: [
          calls(
            call('Task', { prompt: 'watch', subagent_type: 'guard', run_in_background: false }),
          ),
          ({ results }) => {
            id = /\[task ([a-z0-9]+)/.exec(results[0]?.text ?? '')?.[1] ?? '';
            return calls(call('Task', { prompt: 'again', resume: id }));
          },
        ],
      }),
      setup,
    );
    await test.start('root').end.written;
    expect(toldTo(test, 'root').join('\n')).toContain(`Task ${id} runs in the background`);
  });
});

describe('an agent that cannot be started', () => {
  const lost = agent('lost', {
    tools: { mode: 'allow', names: [] },
    unusable: 'None of the tools that it requests can be used (Teleport).',
    origin: { scope: 'user', vendor: 'claude', path: '/home/me/.claude/agents/lost.md' },
  });

  it('costs no request, and the error says why and what to do', async () => {
    const { text, error, requests } = await answerTo(
      { prompt: 'x', subagent_type: 'lost' },
      { agents: [lost] },
    );
    expect([text, error, requests]).toEqual([
      "Task: subagent_type: `lost` can't be started: None of the tools that it requests can be used (Teleport). Fix /home/me/.claude/agents/lost.md, or name another agent.",
      'INVALID_PARAM',
      2,
    ]);
  });

  it('cannot be the main agent', () => {
    const test = testEngine(play({}), { agent: lost });
    expect(() => test.start('root')).toThrow(UsageError);
    expect(() => test.start('root')).toThrow("`lost` can't be started");
    expect(test.model.requests).toEqual([]);
  });

  it('is not offered', async () => {
    const { test } = await answerTo({ prompt: 'x' }, { agents: [lost] });
    expect(test.model.requests[0]?.prefix.system.join('\n')).not.toContain('- lost');
  });

  it('includes one that has lost all its tools here, with a reason for each', async () => {
    const asking = agent('asking', {
      tools: { mode: 'allow', names: ['Bash', 'AskUser', 'WebSearch'] },
      disallowedTools: ['Bash'],
    });
    const { text, error, requests } = await answerTo(
      { prompt: 'x', subagent_type: 'asking' },
      { agents: [asking] },
    );
    expect([text, error, requests]).toEqual([
      "Task: subagent_type: `asking` can't be started: none of the tools that it asks for can be had here. Bash: The definition itself denies it. WebSearch: No search service is configured (web.search in the configuration). AskUser: Only the main agent asks the user. Name another agent, or do the work yourself.",
      'INVALID_PARAM',
      2,
    ]);
  });

  it.each([
    ['that requests no tools', { tools: { mode: 'allow', names: [] } }],
    ['that has one tool left', { tools: { mode: 'allow', names: ['Bash', 'WebSearch'] } }],
    ['that only denies tools', { tools: { mode: 'deny', names: ['Bash'] } }],
  ] as const)('does not include one %s', async (_, parts) => {
    const { error, requests } = await answerTo(
      { prompt: 'x', subagent_type: 'plain' },
      { agents: [agent('plain', parts)], settings: { nested: false } },
    );
    expect([error, requests]).toEqual([null, 3]);
  });
});

describe('an agent that refuses questions', () => {
  const silent = agent('silent', { refusesQuestions: true });
  const setup = { agents: [silent], ask: ['Bash'], onAsk: 'wait' } as const;
  const REFUSED =
    'Refused, nothing was done. The ask rule `Bash` (--ask) wants this Bash call to be asked about. It is not asked: the definition of `silent` wants what would be asked to be refused. Do not try the same another way; go on without it, and say so in your answer.';

  it('is refused every call that would need a question, and so are its descendants, while other tasks are asked about', async () => {
    const test = testEngine(
      play({
        root: [calls(call('Task', { prompt: 'quiet', subagent_type: 'silent' }))],
        quiet: [calls(call('Bash', {}), call('Task', { prompt: 'lower' }))],
        lower: [calls(call('Bash', {}))],
      }),
      setup,
    );
    await test.start('root').end.written;
    expect(eventsOfType(test, 'question.asked')).toEqual([]);
    expect(eventsOfType(test, 'call.refused').map(({ text }) => text)).toEqual([REFUSED, REFUSED]);
  });

  it('behaves the same whether questions are asked, parked or refused', async () => {
    for (const onAsk of ['deny', 'park', 'wait'] as const) {
      const test = testEngine(play({ root: [calls(call('Bash', {}))] }), {
        ...setup,
        onAsk,
        agent: silent,
      });
      const run = test.start('root');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await run.end.written;
      expect([run.cancellation.isParked, run.state.status]).toEqual([false, 'completed']);
      expect(eventsOfType(test, 'call.refused').map(({ text }) => text)).toEqual([REFUSED]);
    }
  });

  it('has no tool to ask the user, and a call of it is refused', async () => {
    const test = testEngine(play({ root: [calls(call('AskUser', { question: 'Which?' }))] }), {
      agent: silent,
      onAsk: 'wait',
    });
    await test.start('root').end.written;
    expect(test.model.requests[0]?.prefix.tools.map(({ name }) => name)).not.toContain('AskUser');
    expect(eventsOfType(test, 'question.asked')).toEqual([]);
    expect(eventsOfType(test, 'call.refused')[0]?.error).toBe('PERMISSION_DENIED');
  });

  it('may run what the user allowed above it, and revokes nothing else', async () => {
    const test = testEngine(
      play({
        root: [
          calls(call('Bash', {})),
          calls(call('Task', { prompt: 'quiet', subagent_type: 'silent' })),
        ],
        quiet: [calls(call('Bash', {}), call('WebFetch', {}))],
      }),
      { agents: [silent], mode: 'default', onAsk: 'wait', tools: [waitTool, fetchTool] },
    );
    answerAll(test.inbox, 'always');
    await test.start('root').end.written;
    const child = eventsOfType(test, 'child.created')[0]?.child ?? '';
    expect(eventsOfType(test, 'question.asked').length).toBe(1);
    expect(eventsOfType(test, 'rights.granted').map(({ rule }) => rule.text)).toEqual([
      'Bash(sleep 1)',
    ]);
    expect(eventsOfType(test, 'call.ended', child).map(({ text }) => text)).toEqual(['waited']);
    expect(eventsOfType(test, 'call.refused', child).map(({ text }) => text)).toEqual([
      "Refused, nothing was done. WebFetch sends requests over the network, and neither a rule nor default mode lets it run unasked. It is not asked: the definition of `silent` wants what would be asked to be refused. A user can allow it with --allow 'WebFetch(domain:example.com)'. Do not try the same another way; go on without it, and say so in your answer.",
    ]);
  });

  it('keeps refusing questions when it is resumed by a task that allows them', async () => {
    let id = '';
    const test = testEngine(
      play({
        root: [
          calls(call('Task', { prompt: 'quiet', subagent_type: 'silent' })),
          ({ results }) => {
            id = /\[task ([a-z0-9]+)/.exec(results[0]?.text ?? '')?.[1] ?? '';
            return calls(call('Task', { prompt: 'again', resume: id }));
          },
        ],
        quiet: [{ text: 'nothing yet' }, calls(call('Bash', {}))],
      }),
      setup,
    );
    await test.start('root').end.written;
    expect(eventsOfType(test, 'question.asked')).toEqual([]);
    expect(eventsOfType(test, 'call.refused', id).map(({ text }) => text)).toEqual([REFUSED]);
  });
});

const fetchTool: AnyTool = {
  ...waitTool,
  name: 'WebFetch',
  kind: 'network',
  describe: () => ({ reads: [], writes: [], commands: [], hosts: ['example.com'] }),
};

describe('the limits of a definition', () => {
  const NONE = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };

  function limitsOf(
    definition: AgentLimits,
    config: Partial<TaskLimits>,
    maxTurns: number | undefined,
  ): TaskLimits {
    const limited = agent('limited', { limits: definition });
    const plan = planChild(
      {
        settings: { ...SETTINGS, taskLimits: { ...NONE, ...config } },
        agents: { agents: () => [limited] },
        skills: { skills: () => [] },
        models: {
          forTask: () => MODEL,
          details: () => Promise.reject(new Error('not asked')),
          outputLimit: () => null,
        },
        tools: [],
        clock: systemClock,
        platform: 'linux',
      },
      { agent: WORKER, rights: rootRights(3), model: MODEL, cwd: '/', modeGrants: [] },
      { prompt: 'x', subagentType: 'limited', ...(maxTurns === undefined ? {} : { maxTurns }) },
    );
    if (plan instanceof MusterError) throw plan;
    return plan.limits;
  }

  it.each<[AgentLimits, Partial<TaskLimits>, number | undefined, Partial<TaskLimits>]>([
    [{ maxTurns: 2 }, { maxTurns: 5 }, undefined, { maxTurns: 2 }],
    [{ maxTurns: 5 }, { maxTurns: 2 }, undefined, { maxTurns: 2 }],
    [{ maxTurns: 5 }, { maxTurns: 4 }, 3, { maxTurns: 3 }],
    [{ maxTurns: 3 }, {}, 9, { maxTurns: 3 }],
    [
      { maxTokens: 10, wallSeconds: 2, resultMaxTokens: 7 },
      { maxTokens: 20, wallMs: 9000 },
      undefined,
      { maxTokens: 10, wallMs: 2000, resultMaxTokens: 7 },
    ],
    [
      { maxTokens: 30, wallSeconds: 20, resultMaxTokens: 9000 },
      { maxTokens: 20, wallMs: 9000 },
      undefined,
      { maxTokens: 20, wallMs: 9000 },
    ],
  ])('%j below %j, called with max_turns %s: %j', (definition, config, maxTurns, expected) => {
    expect(limitsOf(definition, config, maxTurns)).toEqual({ ...NONE, ...expected });
  });
});
