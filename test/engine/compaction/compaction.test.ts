import { expect, test } from 'vitest';
import type { ModelDetails, ModelRequest, ResolvedModel } from '../../../src/protocol/model.ts';
import type { ScriptedAnswer } from '../../scripted-model.ts';
import { rerunTaskLog } from '../../../src/replay/rerun-tree.ts';
import { createBranch } from '../../../src/replay/create-branch.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import type { HookOccasion, HookPort } from '../../../src/protocol/hook.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { SETTINGS, testEngine, type EngineSetup, type TestEngine } from '../support.ts';
import { countedTokens, isSummaryRequest, readTool, textOf, typesOf, usageOf } from './support.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

const WINDOW = 32_000;
const GOAL = 'Find the sum of all parts. Rule: never say the word purple.';

function facts(window: number | null) {
  return async ({ id }: ResolvedModel): Promise<ModelDetails> => ({
    contextWindow: id === 'small' ? WINDOW : window,
    maxOutput: 1_000,
    price: null,
  });
}

/** Creates a model that reads this many parts of this size, one in each turn, and answers requests for summaries. */
function reader(
  parts: number,
  { size = 6_000, summary = (n: number): ScriptedAnswer => ({ text: summaryText(n) }) } = {},
) {
  let summaries = 0;
  let part = 0;
  return (request: ModelRequest): ScriptedAnswer => {
    const usage = usageOf(request);
    if (isSummaryRequest(request)) {
      summaries += 1;
      return { ...summary(summaries), usage };
    }
    if (request.toolChoice === 'none' || part >= parts) return { text: 'the sum is 7', usage };
    part += 1;
    return { calls: [{ name: 'Read', input: { part, size } }], text: `Part ${part}.`, usage };
  };
}

function summaryText(n: number): string {
  return `Goal: the sum. Done: summary number ${n}, up to here all is read.`;
}

function compacting(script: ReturnType<typeof reader>, setup: EngineSetup = {}): TestEngine {
  return testEngine(script, { tools: [readTool], facts: facts(WINDOW), ...setup });
}

async function run(engine: TestEngine, prompt = GOAL) {
  const task = engine.start(prompt);
  await task.end.written;
  return task;
}

async function rerunOf({ store, events }: TestEngine, id: string) {
  const settings = SETTINGS;
  const tools = mapToolsByName({ store, settings }, [readTool]);
  return rerunTaskLog(
    { store, settings, tools },
    events.filter(({ task }) => task === id),
  );
}

test('old results are cleared before a request would not fit, and the task continues', async () => {
  const engine = compacting(reader(12, { size: 12_000 }));
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  const types = typesOf(engine.events, task.spec.id);
  expect(types).toContain('context.cleared');
  expect(types).not.toContain('summary.started');
  for (const request of engine.model.requests) {
    expect(countedTokens(request)).toBeLessThan(WINDOW - 1_000);
    expect(textOf(request)).toContain(GOAL);
  }
  const last = engine.model.requests.at(-1);
  expect(last && textOf(last)).toContain(
    '[Cleared to make room in your context window: 12000 char',
  );
  expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });
});

test('a cleared result can be read again by the number of its event', async () => {
  let cleared: string | undefined;
  let again: string | undefined;
  const read = reader(12, { size: 12_000 });
  const engine = compacting((request) => {
    const text = textOf(request);
    cleared ??= /TaskOutput\(task_id: "([^"]+)"\)/.exec(text)?.[1];
    if (cleared !== undefined && again === undefined) {
      again = '';
      const input = { task_id: cleared, offset: 100 };
      return { calls: [{ name: 'TaskOutput', input }], usage: usageOf(request) };
    }
    if (again === '') again = text.slice(text.lastIndexOf('Result of Read'));
    return read(request);
  });
  const task = await run(engine);
  expect(again).toMatch(/^Result of Read, as it was then:\n[\s\S]*line 1 of what it holds/);
  expect(task.state.end?.status).toBe('completed');
});

test('if clearing does not help, the task summarizes the beginning', async () => {
  // These results are too small to be cleared.
  const engine = compacting(reader(300, { size: 200 }));
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  const summaries = engine.model.requests.filter(isSummaryRequest);
  expect(summaries.length).toBeGreaterThan(0);
  const [first] = summaries;
  const before = engine.model.requests[engine.model.requests.indexOf(first as ModelRequest) - 1];
  expect(first?.messages.slice(0, -1)).toEqual(
    before?.messages.slice(0, (first?.messages.length ?? 0) - 1),
  );
  expect(first?.prefix).toBe(before?.prefix);
  expect(first?.toolChoice).toBe('auto');
  expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });
});

test('ten compactions in a row keep the goal, and each gets the summary before it', async () => {
  const engine = compacting(reader(1_200, { size: 200 }), {
    settings: { noProgressCalls: 10_000 },
    agent: { ...MAIN_AGENT, compactAt: 8_000 },
  });
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  const types = typesOf(engine.events, task.spec.id);
  expect(types.filter((type) => type === 'context.summarised').length).toBeGreaterThan(9);
  for (const request of engine.model.requests) {
    expect(textOf(request).split(GOAL)).toHaveLength(2);
    expect(countedTokens(request)).toBeLessThan(9_500);
  }
  const summaries = engine.model.requests.filter(isSummaryRequest);
  for (const [index, request] of summaries.entries()) {
    if (index > 0) expect(textOf(request)).toContain(summaryText(index));
  }
  expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });
});

test('between compactions each request only adds to the one before it', async () => {
  const engine = compacting(reader(60, { size: 3_000 }));
  const task = await run(engine);
  const changes = engine.events.filter(
    ({ type }) => type.startsWith('context.') || type === 'summary.started',
  );
  const turns = engine.model.requests.filter((request) => !isSummaryRequest(request));
  let broken = 0;
  for (const [index, request] of turns.entries()) {
    const before = turns[index - 1];
    if (before === undefined) continue;
    expect(request.prefix).toBe(before.prefix);
    const same = JSON.stringify(request.messages.slice(0, before.messages.length));
    if (same !== JSON.stringify(before.messages)) broken += 1;
  }
  expect(turns).toHaveLength(61);
  expect(broken).toBe(changes.filter(({ type }) => type !== 'summary.started').length);
  expect(broken).toBeGreaterThan(0);
  expect(broken).toBeLessThan(6);
  expect(task.state.end?.status).toBe('completed');
});

test.each([
  ['is empty', { text: '  ' }],
  ['calls tools', { text: 'so', calls: [{ name: 'Read', input: { part: 1, size: 10 } }] }],
  ['is too long', { text: 'much '.repeat(40_000) }],
] as const)(
  'a summary that %s is refused, then the oldest turns are dropped',
  async (_, answer) => {
    const engine = compacting(reader(300, { size: 200, summary: () => answer }));
    const task = await run(engine);
    expect(task.state.end?.status).toBe('completed');
    const made = typesOf(engine.events, task.spec.id).filter(
      (type) => type.startsWith('context.') || type.startsWith('summary.'),
    );
    expect(made.slice(0, 5)).toEqual([
      'summary.started',
      'summary.refused',
      'summary.started',
      'summary.refused',
      'context.dropped',
    ]);
    const summaries = engine.model.requests.filter(isSummaryRequest);
    expect(summaries.slice(0, 2).map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'none']);
    for (const request of engine.model.requests) expect(textOf(request)).toContain(GOAL);
    // Summaries that can't be used are paid too.
    const used = engine.model.requests.reduce((sum, each) => sum + countedTokens(each), 0);
    expect(task.state.usage.input).toBe(used);
    expect(task.state.turns).toBe(301);
    expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });
  },
);

test('the reasoning of a model causes no results to be cleared', async () => {
  const read = reader(4, { size: 6_000 });
  const engine = compacting((request) => {
    const answer = read(request);
    return { ...answer, usage: { ...usageOf(request), output: 15_000 } };
  });
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  expect(typesOf(engine.events, task.spec.id).join()).not.toContain('context.');
});

test('a long task that makes progress is compacted as often as needed', async () => {
  const engine = compacting(reader(130, { size: 9_000 }), { facts: facts(10_000) });
  const task = await run(engine);
  const kinds = typesOf(engine.events, task.spec.id);
  const isCompaction = (type: string) => /^context\.(cleared|dropped|summarised)$/.test(type);
  expect(kinds.filter(isCompaction).length).toBeGreaterThan(50);
  expect(task.state).toMatchObject({ status: 'completed', result: 'the sum is 7' });
});

test('a task that repeats one call ends as it would without compaction: cleared results still count', async () => {
  const engine = compacting((request) => {
    const usage = usageOf(request);
    if (isSummaryRequest(request)) return { text: summaryText(1), usage };
    if (request.toolChoice === 'none') return { text: 'I got no further', usage };
    return { calls: [{ name: 'Read', input: { part: 1, size: 20_000 } }], usage };
  });
  const task = await run(engine);
  expect(typesOf(engine.events, task.spec.id).filter((type) => type === 'call.ended')).toHaveLength(
    SETTINGS.noProgressCalls,
  );
  expect(typesOf(engine.events, task.spec.id)).toContain('context.summarised');
  expect(task.state.end).toMatchObject({
    error: { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('no_progress_calls') },
  });
});

test('one result that is larger than the window is named, and the task continues', async () => {
  const engine = compacting(reader(2, { size: 200_000 }));
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  const second = engine.model.requests[1];
  expect(second && textOf(second)).toMatch(
    /Too large for what is left of your context window: 200000/,
  );
});

test('a request that a provider refuses as too large is made smaller, without a loop', async () => {
  const most = 20_000;
  const read = reader(40, { size: 6_000 });
  const engine = compacting(
    (request) => (countedTokens(request) > most ? OVERFLOW : read(request)),
    { facts: facts(null) },
  );
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  expect(typesOf(engine.events, task.spec.id)).toContain('context.cleared');
  expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });

  const never = compacting((request) => (request.messages.length > 1 ? OVERFLOW : read2(request)), {
    facts: facts(null),
  });
  const read2 = reader(40, { size: 6_000 });
  const failed = await run(never);
  expect(failed.state.end).toMatchObject({ status: 'failed', error: { code: 'PROVIDER_ERROR' } });
  expect(never.model.requests.length).toBeLessThan(20);
  expect(await rerunOf(never, failed.spec.id)).toMatchObject({ difference: null });
});

test('a task whose inputs alone exceed the window ends, and names the limit', async () => {
  const engine = compacting(reader(3), {});
  const task = await run(engine, 'word '.repeat(60_000));
  expect(task.state.end).toMatchObject({
    status: 'partial',
    error: { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('context window of 32000') },
  });
  expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });
});

test('a small child of a large parent is compacted at its own window, and its result stays', async () => {
  const read = reader(40, { size: 6_000 });
  let asked = false;
  const engine = compacting(
    (request) => {
      if (request.model.id === 'small') return read(request);
      if (asked) return { text: `told: ${textOf(request).includes('the sum is 7')}` };
      asked = true;
      return { calls: [{ name: 'Task', input: { prompt: GOAL, model: 'small' } }] };
    },
    { facts: facts(1_000_000) },
  );
  const task = await run(engine, 'Delegate it.');
  const [child] = task.state.children.keys();
  expect(task.state.result).toBe('told: true');
  expect(typesOf(engine.events, task.spec.id).join()).not.toContain('context.');
  expect(typesOf(engine.events, child ?? '')).toContain('context.cleared');
  for (const request of engine.model.requests.filter(({ model }) => model.id === 'small')) {
    expect(textOf(request)).toContain(GOAL);
    expect(countedTokens(request)).toBeLessThan(WINDOW - 1_000);
  }
});

test('a child that forks a conversation keeps the inputs of its parent and its own task', async () => {
  const read = reader(300, { size: 200 });
  const task = 'Read them for me.';
  const engine = compacting((request) => {
    if (textOf(request).includes(task)) return read(request);
    const input = { prompt: task, context: 'inherit' };
    const done = request.messages.length > 1;
    return done ? { text: 'told' } : { calls: [{ name: 'Task', input }] };
  });
  const main = await run(engine);
  const [child = ''] = main.state.children.keys();
  expect(main.state.end?.status).toBe('completed');
  expect(typesOf(engine.events, child)).toContain('context.summarised');
  const last = engine.model.requests.findLast((request) => textOf(request).includes('<summary>'));
  expect(last && textOf(last)).toContain(`conversation before you: ${GOAL}`);
  expect(last?.messages[0]?.content).toContainEqual({ type: 'text', text: task });
  expect(await rerunOf(engine, child)).toMatchObject({ difference: null });
});

test('a child that forks a conversation knows the count of the provider, and keeps the bytes', async () => {
  const read = reader(8, { size: 16_000 });
  const task = 'Sum them up for me.';
  const engine = compacting((request) => {
    const usage = { ...usageOf(request), input: Math.ceil(countedTokens(request) / 2) };
    if (textOf(request).includes(task)) return { text: 'summed up', usage };
    const answer = read(request);
    if (answer.calls !== undefined) return { ...answer, usage };
    const input = { prompt: task, context: 'inherit' };
    const done = JSON.stringify(request.messages).includes('summed up');
    return done ? { text: 'told', usage } : { calls: [{ name: 'Task', input }], usage };
  });
  const main = await run(engine);
  const [child = ''] = main.state.children.keys();
  expect(engine.model.requests.some((request) => textOf(request).includes(task))).toBe(true);
  expect(typesOf(engine.events, child).filter((type) => type.startsWith('context.'))).toEqual([]);
  expect(await rerunOf(engine, child)).toMatchObject({ difference: null });
});

test('inputs that fill the window are shortened, and the task continues', async () => {
  const engine = compacting(reader(150, { size: 200 }));
  const task = await run(engine, `${GOAL} ${'word '.repeat(16_500)} So much for that.`);
  expect(task.state.end?.status).toBe('completed');
  expect(typesOf(engine.events, task.spec.id)).toContain('context.summarised');
  for (const request of engine.model.requests) {
    expect(textOf(request)).toContain(GOAL);
    expect(textOf(request)).toContain('So much for that.');
    expect(countedTokens(request)).toBeLessThan(WINDOW - 1_000);
  }
});

test('a summary is charged to the budget of its task, and is not one of its turns', async () => {
  const engine = compacting(reader(200, { size: 200 }), {
    agent: { ...MAIN_AGENT, compactAt: 8_000 },
    settings: { rootLimits: { ...SETTINGS.rootLimits, maxTokens: 1_000_000 } },
  });
  const task = await run(engine);
  expect(typesOf(engine.events, task.spec.id)).toContain('context.summarised');
  const { input, output } = task.state.usage;
  expect(task.budget.capUses).toEqual([
    { limit: 'max_tokens', value: 1_000_000, used: input + output },
  ]);
  expect(task.state.activation.spent.tokens).toBe(input + output);
  expect(task.state.turns).toBe(engine.model.requests.filter((r) => !isSummaryRequest(r)).length);
});

test('no summary is requested if the budget does not allow both it and the next turn', async () => {
  const engine = compacting(reader(200, { size: 200 }), {
    agent: { ...MAIN_AGENT, compactAt: 8_000 },
    settings: { rootLimits: { ...SETTINGS.rootLimits, maxTokens: 268_000 } },
  });
  const task = await run(engine);
  const dropped = engine.events.find(({ type }) => type === 'context.dropped');
  expect(dropped).toMatchObject({ because: expect.stringContaining('max_tokens = 268000') });
  expect(task.state.end?.status).toBe('partial');
  // The remaining budget is used for a last answer.
  expect(task.state.result).toBe('the sum is 7');
});

test('a task that is killed at any event around a compaction continues with the same requests', async () => {
  const setup = { agent: { ...MAIN_AGENT, compactAt: 8_000 } };
  const whole = compacting(reader(100, { size: 200 }), setup);
  const task = await run(whole);
  const events = whole.events.filter((event) => event.task === task.spec.id);
  const began = events.findIndex(({ type }) => type === 'summary.started');
  expect(began).toBeGreaterThan(0);
  for (let at = began - 1; at < began + 5; at += 1) {
    const store = openMemoryStore();
    copyInto(store, events.slice(0, at + 1));
    const state = foldEvents(events.slice(0, at + 1));
    const rest = compacting(
      (request) => {
        if (isSummaryRequest(request)) return { text: summaryText(1), usage: usageOf(request) };
        return { text: 'the sum is 7', usage: usageOf(request) };
      },
      { ...setup, store },
    );
    const resumed = await rest.engine.resume(task.spec.id, {
      prompt: null,
      maxRights: (recorded) => recorded,
    });
    await resumed.end.written;
    expect(resumed.state.end?.status).toBe('completed');
    expect(resumed.state.conversation.messages.length).toBeLessThan(
      state.conversation.messages.length + 4,
    );
    const sent = whole.model.requests.map(({ messages }) => JSON.stringify(messages));
    for (const { messages } of rest.model.requests)
      expect(sent).toContain(JSON.stringify(messages));
  }
});

test('a branch after a compaction starts with the compacted context', async () => {
  const engine = compacting(reader(300, { size: 200 }));
  const task = await run(engine);
  const summarised = engine.events.find(({ type }) => type === 'context.summarised');
  const at = (summarised?.seq ?? 0) + 1;
  const branch = await createBranch(engine.store, { id: task.spec.id, at, hasPrompt: true });
  const state = foldEvents(eventsOf(engine.store, branch.id));
  const before = foldEvents(engine.events.filter(({ seq }) => seq <= branch.at));
  expect(state.conversation.messages).toEqual(before.conversation.messages);
  const full = foldEvents(engine.events.filter(({ seq }) => seq < (summarised?.seq ?? 0)));
  expect(state.conversation.messages.length).toBeLessThan(full.conversation.messages.length / 2);
});

test('the user can summarize an ended conversation; its answer stays, and it continues from there', async () => {
  const engine = compacting(reader(30, { size: 200 }));
  const task = await run(engine);
  const { id } = task.spec;
  const resume = (prompt: string | null, compacts?: { readonly keep: string }) =>
    engine.engine.resume(id, {
      prompt,
      maxRights: (recorded) => recorded,
      ...(compacts === undefined ? {} : { compacts }),
    });
  const compacted = await resume(null, { keep: 'the word mauve' });
  await compacted.end.written;
  const last = engine.model.requests.at(-1);
  expect(last && isSummaryRequest(last) && textOf(last)).toContain(
    'kept above all: the word mauve',
  );
  expect(compacted.state).toMatchObject({
    status: 'completed',
    result: 'the sum is 7',
    turns: 31,
    end: task.state.end,
  });
  const again = await resume('And the product?');
  await again.end.written;
  const next = engine.model.requests.at(-1);
  expect(next && textOf(next)).toMatch(/Rule: never say[\s\S]*<summary>[\s\S]*And the product/);
  expect(next?.messages.length).toBeLessThan(30);
  expect(await rerunOf(engine, id)).toMatchObject({ difference: null });
});

test('a conversation that is too short for a summary stays as it is, and the error says so', async () => {
  const engine = compacting(reader(1, { size: 10 }));
  const task = await run(engine);
  const asked = engine.engine.resume(task.spec.id, {
    prompt: null,
    maxRights: (recorded) => recorded,
    compacts: { keep: null },
  });
  await expect(asked).rejects.toThrow('nothing to summarize');
  expect(eventsOf(engine.store, task.spec.id).at(-1)?.type).toBe('task.claimed');
});

test('a rewind to an event before a compaction restores the conversation of that event', async () => {
  const engine = compacting(reader(12, { size: 12_000 }));
  const task = await run(engine);
  const log = eventsOf(engine.store, task.spec.id);
  const cleared = log.findIndex(({ type }) => type === 'context.cleared');
  const last = log.at(-1);
  if (last === undefined) throw new Error('no log');
  const rewound = (to: number): TaskEvent => ({
    v: last.v,
    ts: last.ts,
    task: last.task,
    epoch: last.epoch,
    seq: last.seq + 1,
    type: 'task.rewound',
    to,
    undoes: null,
    stint: 1,
    turns: 1,
    end: null,
    dropped: [],
    files: [],
  });
  for (const to of [cleared - 1, cleared]) {
    const state = foldEvents([...log, rewound(to)]);
    const then = foldEvents(log.slice(0, to + 1));
    expect(state.conversation).toEqual(then.conversation);
  }
});

const OVERFLOW: ScriptedAnswer = {
  failure: { kind: 'context_overflow', message: 'too long', retryable: false },
  refused: true,
};

function eventsOf(store: TestEngine['store'], id: string): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  store.scan(id, (event) => void events.push(event));
  return events;
}

function copyInto(store: TestEngine['store'], events: readonly TaskEvent[]): void {
  const [first, ...rest] = events;
  if (first?.type !== 'task.created') throw new Error('no log');
  const log = store.create(first.spec);
  log.append(rest.filter(({ type }) => type !== 'task.claimed'));
  log.close();
}

test('hooks are told before and after a summary, and may say again what has to be kept', async () => {
  const told: HookOccasion[] = [];
  const hooks: HookPort = {
    has: (event) => ['PreCompact', 'PostCompact', 'SessionStart'].includes(event),
    beginSession: () => false,
    run: async (occasion) => {
      told.push(occasion);
      const context = occasion.event === 'SessionStart' ? ['use tabs'] : [];
      return { context, records: [] };
    },
  };
  const engine = compacting(reader(400, { size: 200 }), {
    hooks,
    settings: { noProgressCalls: 10_000 },
    agent: { ...MAIN_AGENT, compactAt: 8_000 },
  });
  const task = await run(engine);
  expect(task.state.end?.status).toBe('completed');
  const summaries = engine.events.filter(({ type }) => type === 'context.summarised');
  expect(summaries.length).toBeGreaterThan(1);
  const { provider, id } = task.spec.model;
  expect(told.map(({ event, matched, fields }) => [event, matched, fields])).toEqual(
    summaries.flatMap((_, index) => [
      ['PreCompact', 'auto', { trigger: 'auto', custom_instructions: '' }],
      ['PostCompact', 'auto', { trigger: 'auto', compact_summary: summaryText(index + 1) }],
      ['SessionStart', 'compact', { source: 'compact', model: `${provider}/${id}` }],
    ]),
  );
  const after = engine.model.requests.filter((request) =>
    textOf(request).includes('A hook says: use tabs'),
  );
  expect(after.length).toBeGreaterThan(0);
  expect(await rerunOf(engine, task.spec.id)).toMatchObject({ difference: null });
});
