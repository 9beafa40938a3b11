import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportTrajectory } from '../../src/api/tasks/trajectory.ts';
import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';
import { formatTrajectory, type AtifTrajectory } from '../../src/report/atif-format.ts';
import { buildTrajectory, type LoggedTask } from '../../src/report/atif-trajectory.ts';
import { selectLiveEvents } from '../../src/protocol/events/rewound.ts';
import { background, call, calls, play } from '../engine/play.ts';
import { wildPlan } from '../engine/random-plans.ts';
import { randomRuns } from '../engine/random-runs.ts';
import { eventsOf, live, newWorld, type World } from '../engine/random-world.ts';
import { testEngine, waitTool } from '../engine/support.ts';
import type { ScriptedAnswer } from '../scripted-model.ts';
import { checkTrajectory } from './atif-validator.ts';

const RUNS = randomRuns(60);
const keep = (text: string): string => text;
/** The trajectory as a reader gets it. */
const overJson = (trajectory: AtifTrajectory): AtifTrajectory =>
  JSON.parse(JSON.stringify(trajectory)) as AtifTrajectory;

function flatten(trajectory: AtifTrajectory): readonly AtifTrajectory[] {
  return [trajectory, ...(trajectory.subagent_trajectories ?? []).flatMap(flatten)];
}

const SIZE = { before: 900, after: 300, waiting: 0, window: 1000 };

describe('the trajectory of a tree', () => {
  const usage = { input: 100, output: 20, cacheRead: 300, cacheWrite: 7, reasoning: 5 };
  const price = {
    input: 10,
    output: 100,
    cacheRead: 1,
    cacheWrite: 20,
    source: 'a test',
    asOf: null,
  };

  async function run(parts: Readonly<Record<string, readonly ScriptedAnswer[]>>) {
    const test = testEngine(play(parts), {
      tools: [waitTool],
      facts: async () => ({ contextWindow: null, maxOutput: 100, price }),
    });
    const task = test.start('main');
    await task.end.written;
    const trajectory = overJson(exportTrajectory(test.store, task.spec.id, keep));
    expect(checkTrajectory(trajectory)).toEqual([]);
    return { id: task.spec.id, trajectory, events: eventsOf(test.store, task.spec.id) };
  }

  /** The trajectory of a task whose log continues with these events after its beginning. */
  async function runWith(...bodies: readonly (EventBody & { readonly ts?: number })[]) {
    const { events } = await run({ main: [{ text: 'done' }] });
    const beginning = events.slice(0, 3);
    const added = bodies.map((body, index) =>
      Object.assign({ ts: 0 }, body, { seq: beginning.length + index, epoch: 1 }),
    );
    const children = new Map<string, LoggedTask>();
    const task = { events: [...beginning, ...added] as TaskEvent[], prefix: null, children };
    const trajectory: AtifTrajectory = JSON.parse(formatTrajectory(buildTrajectory(task)));
    expect(checkTrajectory(trajectory)).toEqual([]);
    return trajectory;
  }

  it('has a result that was reused as a copy, since no request was sent', async () => {
    const reused = { type: 'task.reused', of: 'earlier', at: 0, read: [], text: 'found' } as const;
    const { steps } = await runWith(reused);
    expect(steps.at(-1)).toEqual({
      step_id: 2,
      timestamp: '1970-01-01T00:00:00.000Z',
      source: 'agent',
      message: 'found',
      is_copied_context: true,
      extra: { reused_from: 'earlier' },
    });
  });

  it('says how steps of the system changed the context', async () => {
    const answer = {
      turn: 1,
      reason: 'stop',
      ms: 1,
      usage,
      costUsd: null,
      model: 'scripted/one',
    } as const;
    const summary = {
      type: 'context.summarised',
      summary: 'It was long.',
      size: SIZE,
      ...answer,
    } as const;
    const { steps } = await runWith({ type: 'context.cleared', calls: [], size: SIZE }, summary, {
      ...summary,
      nonce: 'abc',
    });
    expect(steps.filter(({ extra }) => extra?.['context_management'] !== undefined)).toMatchObject([
      {
        source: 'system',
        message: 'Old results of tools were cleared from the context.',
        extra: { context_management: { type: 'pruning', boundary: 'truncate' } },
      },
      {
        source: 'system',
        message: 'A summary replaced the beginning of the context.',
        observation: { results: [{ content: 'It was long.' }] },
        extra: { context_management: { type: 'compaction', boundary: 'truncate' } },
      },
      {
        source: 'system',
        message: 'A summary of the conversation of the parent was added to the context.',
        observation: { results: [{ content: 'It was long.' }] },
        extra: { context_management: { type: 'injection', boundary: 'append' } },
      },
    ]);
  });

  it('has whole characters and usual times only', async () => {
    const text = 'cut \ud83d';
    const { steps } = await runWith(
      { type: 'task.reused', of: 'earlier', at: 0, read: [], text, ts: 8.64e15 },
      { type: 'task.reused', of: 'earlier', at: 0, read: [], text: 'x', ts: -8.64e15 },
    );
    expect(steps.slice(-2).map(({ timestamp, message }) => [timestamp, message])).toEqual([
      [undefined, 'cut \ufffd'],
      [undefined, 'x'],
    ]);
  });

  it('has messages, thoughts, calls with their results, usage and cost', async () => {
    const { id, trajectory } = await run({
      main: [
        { reasoning: 'I must wait.', text: 'First.', usage, calls: [call('Bash', { ms: 1 })] },
        { text: 'It is done.', usage },
      ],
    });
    const [system, user, first, last] = trajectory.steps;
    expect(trajectory).toMatchObject({
      schema_version: 'ATIF-v1.7',
      session_id: id,
      trajectory_id: id,
      agent: { name: 'muster', model_name: 'scripted/one', extra: { agent: 'main' } },
      extra: { status: 'completed', result: 'It is done.' },
    });
    expect(trajectory.agent.tool_definitions?.map((tool) => tool['type'])).toContain('function');
    expect(system?.source).toBe('system');
    expect(user).toMatchObject({ step_id: 2, source: 'user', message: 'main' });
    expect(first).toMatchObject({
      source: 'agent',
      message: 'First.',
      reasoning_content: 'I must wait.',
      model_name: 'scripted/one',
      llm_call_count: 1,
      tool_calls: [{ tool_call_id: 'call_1', function_name: 'Bash', arguments: { ms: 1 } }],
      observation: { results: [{ source_call_id: 'call_1', content: 'waited' }] },
      metrics: {
        prompt_tokens: 407,
        completion_tokens: 20,
        cached_tokens: 300,
        extra: { cache_write_tokens: 7, reasoning_tokens: 5 },
      },
    });
    expect(last).toMatchObject({ step_id: 4, source: 'agent', message: 'It is done.' });
    const cost = first?.metrics?.cost_usd ?? Number.NaN;
    expect(trajectory.final_metrics).toMatchObject({
      total_prompt_tokens: 814,
      total_completion_tokens: 40,
      total_cached_tokens: 600,
      total_cost_usd: 2 * cost,
      total_steps: 4,
    });
  });

  it('contains the children, and names them in the results of the calls that created them', async () => {
    const { trajectory } = await run({
      main: [
        calls(call('Task', { prompt: 'part' }), background('aside')),
        { text: 'waiting', usage },
        { text: 'done', usage },
      ],
      part: [{ text: 'found', ...calls(call('Task', { prompt: 'deep' })), usage }],
    });
    const [part, aside] = trajectory.subagent_trajectories ?? [];
    expect([part?.extra['description'], aside?.extra['description']]).toEqual(['part', 'aside']);
    const results = trajectory.steps[2]?.observation?.results;
    expect(results?.map((result) => result.subagent_trajectory_ref)).toEqual([
      [{ trajectory_id: part?.trajectory_id }],
      [{ trajectory_id: aside?.trajectory_id }],
    ]);
    expect(part?.subagent_trajectories?.map(({ extra }) => extra['depth'])).toEqual([2]);
    const ended = trajectory.steps.find(({ message }) =>
      message.includes('Ended in the background'),
    );
    expect(ended?.source).toBe('system');
    const tokens = flatten(trajectory).map((each) => each.final_metrics.total_prompt_tokens);
    const { extra } = trajectory.final_metrics;
    expect(extra['tree']).toMatchObject({ prompt_tokens: tokens.reduce((a, b) => a + b) });
  });

  it('marks what a task has from the conversation of its parent', async () => {
    const { trajectory } = await run({
      main: [
        calls(call('Bash', { ms: 1 })),
        calls(call('Task', { prompt: 'part', context: 'inherit' })),
        { text: 'done' },
        { text: 'done' },
      ],
    });
    const copied = trajectory.subagent_trajectories?.[0]?.steps.filter(
      (step) => step.is_copied_context,
    );
    expect(copied?.map(({ source }) => source)).toContain('agent');
    expect(copied?.find(({ source }) => source === 'agent')?.observation?.results.length).toBe(1);
  });
});

function checkAgainstLogs({ store, ids }: World, all: readonly AtifTrajectory[]): void {
  expect(all.map((each) => each.trajectory_id).toSorted()).toEqual(ids.toSorted());
  for (const { trajectory_id: id, steps, final_metrics: total } of all) {
    const events = selectLiveEvents(eventsOf(store, id));
    const answers = events.filter(({ type }) => type === 'turn.ended').length;
    const isAnswer = ({ extra }: (typeof steps)[number]) => extra?.['finish_reason'] !== undefined;
    expect(steps.filter(isAnswer).length).toBe(answers);
    const outcomes = events.flatMap((event) =>
      event.type === 'call.ended' || event.type === 'call.refused' ? [event.callId] : [],
    );
    const results = steps.flatMap(({ observation }) => observation?.results ?? []);
    const read = results.flatMap(({ content, source_call_id: call = '' }) =>
      content === undefined ? [] : [call],
    );
    expect(read.toSorted()).toEqual([...new Set(outcomes)].toSorted());
    expect(total.total_steps).toBe(steps.length);
  }
}

it(
  'the trajectory of any tree is valid, and has all answers and results of its logs',
  RUNS.test,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        wildPlan,
        fc.option(
          fc.record({
            batch: fc.integer({ min: 1, max: 60 }),
            several: fc.boolean(),
            kept: fc.nat(2),
          }),
        ),
        async (plan, death) => {
          const world = newWorld(plan);
          await live(world, death);
          const [root] = world.ids;
          if (root === undefined || !world.store.exists(root)) return;
          const trajectory = overJson(exportTrajectory(world.store, root, keep));
          expect(checkTrajectory(trajectory)).toEqual([]);
          if (death === null) checkAgainstLogs(world, flatten(trajectory));
          await world.store.close();
        },
      ),
      RUNS.runs,
    );
  },
);

describe('the checks of the format', () => {
  const step = { step_id: 1, source: 'user', message: 'x' };
  const agent = { name: 'a', version: '1' };
  const valid = { schema_version: 'ATIF-v1.7', agent, steps: [step] };

  it.each<[string, object, string[]]>([
    ['nothing in a valid one', {}, []],
    ['an unknown field', { more: 1 }, ['trajectory.more: not a field of the format']],
    ['a missing step', { steps: [] }, ['trajectory.steps: fewer than 1']],
    ['a wrong number', { steps: [{ ...step, step_id: 2 }] }, ['trajectory.steps[0]: step_id 2']],
    [
      'usage of a user',
      { steps: [{ ...step, metrics: {} }] },
      ['trajectory.steps[0]: metrics of no agent'],
    ],
    [
      'a result without a call',
      { steps: [{ ...step, observation: { results: [{ source_call_id: 'c' }] } }] },
      ['trajectory.steps[0]: no call c'],
    ],
    [
      'a missing child',
      {
        steps: [
          {
            ...step,
            observation: { results: [{ subagent_trajectory_ref: [{ trajectory_id: 'c' }] }] },
          },
        ],
      },
      ['trajectory.steps[0]: no child c'],
    ],
  ])('find %s', (_, change, problems) => {
    expect(checkTrajectory({ ...valid, ...change })).toEqual(problems);
  });
});
