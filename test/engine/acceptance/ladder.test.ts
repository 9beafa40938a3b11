import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { promptOf, SETTINGS, testEngine, waitTool, type EngineSetup } from '../support.ts';

const ROOT = mkdtempSync(join(tmpdir(), 'muster-ladder-'));
afterAll(() => rmSync(ROOT, { recursive: true }));

const MODELS = ['small', 'middle', 'large'];
const USAGE = { input: 900, output: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const TOKENS = 1_000;

/** A shell whose commands pass or fail in this order, and fail afterwards. */
function scriptedShell(outcomes: readonly boolean[]) {
  let runs = 0;
  const tool: AnyTool = {
    ...waitTool,
    run: (input: { readonly command: string }) => {
      const exitCode = outcomes[runs] === true ? 0 : 1;
      runs += 1;
      const commands = [{ command: input.command, exitCode }];
      return Promise.resolve({ text: `run ${runs}`, facts: { commands } });
    },
  };
  return { tool, runs: () => runs };
}

/** Runs a main agent that delegates with a ladder of three models. */
async function runLadder(outcomes: readonly boolean[], setup: Partial<EngineSetup> = {}) {
  const shell = scriptedShell(outcomes);
  const input = { prompt: 'work', accept: 'make check', models: MODELS };
  const engine = testEngine(
    (request) => {
      if (promptOf(request) === 'work')
        return { text: `answer of ${request.model.id}`, usage: USAGE };
      const isDone = request.messages.some(({ role }) => role === 'tool');
      return isDone ? { text: 'end' } : { calls: [{ name: 'Task', input }] };
    },
    { root: ROOT, tools: [shell.tool], ...setup },
  );
  await engine.start('main').end.written;
  const child = engine.events.find(
    (event) => event.type === 'task.created' && event.spec.parent !== null,
  )?.task;
  const events: TaskEvent[] = engine.events.filter(({ task }) => task === child);
  return { engine, events, runs: shell.runs(), state: foldEvents(events) };
}

/** The models that answer until the first check that passes: two answers each, and three of the last. */
function expectedModels(outcomes: readonly boolean[]): readonly string[] {
  const all = ['small', 'small', 'middle', 'middle', 'large', 'large', 'large'];
  const passed = all.findIndex((_, index) => outcomes[index] === true);
  return passed === -1 ? all : all.slice(0, passed + 1);
}

describe('a ladder of models', () => {
  it('has one log and an exact ledger when the first fails twice and the second passes', async () => {
    const { events, state, runs } = await runLadder([false, false, true]);
    const answers = events.flatMap((event) => (event.type === 'turn.ended' ? [event.model] : []));
    expect(answers).toEqual(['scripted/small', 'scripted/small', 'scripted/middle']);
    expect(runs).toBe(3);
    expect(state.end).toMatchObject({ status: 'completed' });
    expect(state.result).toBe('answer of middle');
    expect(state.activation.spent.tokens).toBe(3 * TOKENS);
    expect(events.filter(({ type }) => type === 'task.created')).toHaveLength(1);
  });

  it('asks the models in order, and reruns to the same events, whatever the checks say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 7 }), async (outcomes) => {
        const { engine, events, state } = await runLadder(outcomes);
        const models = events.flatMap((event) =>
          event.type === 'turn.ended' ? [event.model.replace('scripted/', '')] : [],
        );
        expect(models).toEqual(expectedModels(outcomes));
        const isPassed = outcomes.slice(0, 7).includes(true);
        expect(state.end?.status).toBe(isPassed ? 'completed' : 'failed');
        expect(state.acceptance.checks.at(-1)?.outcome.isPassed).toBe(isPassed);
        const parts = { store: engine.store, settings: SETTINGS };
        const source = { ...parts, tools: mapToolsByName(parts, [waitTool]) };
        const { tasks } = await rerunTree(source, engine.events[0]?.task ?? '');
        expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('never spends more than its budget', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2_500, max: 8_000 }), async (maxTokens) => {
        const taskLimits = { ...SETTINGS.taskLimits, maxTokens };
        const { events, state } = await runLadder([], { settings: { taskLimits } });
        expect(state.activation.spent.tokens).toBeLessThanOrEqual(maxTokens);
        const isCut = events.some(({ type }) => type === 'limit.reached');
        expect(state.end?.status).toBe(isCut ? 'partial' : 'failed');
      }),
      { numRuns: 10 },
    );
  });

  it('continues after a death at any event, with no more checks and answers than without it', async () => {
    const { engine, events } = await runLadder([false, false, false, true]);
    const root = engine.events[0]?.task ?? '';
    const whole = engine.events.filter(({ task }) => task === root);
    for (let kept = 2; kept <= events.length; kept += 1) {
      const store = openMemoryStore();
      for (const event of events) {
        if (event.type === 'acceptance.prepared')
          store.putBlob(engine.store.getBlob(event.baseline));
      }
      const created = whole.findIndex(({ type }) => type === 'child.created');
      copyLog(store, whole.slice(0, created + 1));
      copyLog(store, events.slice(0, kept));
      const done = events.slice(0, kept).filter(({ type }) => type === 'acceptance.checked').length;
      const shell = scriptedShell([false, false, false, true].slice(done));
      const again = testEngine(
        (request) =>
          promptOf(request) === 'work'
            ? { text: `answer of ${request.model.id}` }
            : { text: 'end' },
        { root: ROOT, tools: [shell.tool], store },
      );
      const run = await again.engine.resume(root, { prompt: null, maxRights: (rights) => rights });
      await run.end.written;
      const state = foldLog(store, events[0]?.task ?? '');
      expect(state.end?.status).toBe('completed');
      expect(state.result).toBe('answer of middle');
      expect(state.acceptance.checks.map(({ rung }) => rung)).toEqual([0, 0, 1, 1]);
      expect(state.turns).toBe(4);
      await store.close();
    }
  });
});

/** Copies events into a new log, as a process that died has left them. */
function copyLog(store: TaskStore, events: readonly TaskEvent[]): void {
  const [first, ...rest] = events;
  if (first?.type !== 'task.created') throw new Error('there is no log');
  const log = store.create(first.spec);
  log.append(rest.filter(({ type }) => type !== 'task.claimed'));
  log.close();
}
