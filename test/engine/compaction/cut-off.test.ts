import { expect, test } from 'vitest';
import type { ScriptedAnswer } from '../../scripted-model.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { background, until } from '../play.ts';
import { promptOf, testEngine, type TestEngine } from '../support.ts';
import { isSummaryRequest, readTool, typesOf, usageOf } from './support.ts';

const ALL = { maxRights: <T>(rights: T) => rights };

/** Starts a conversation that reads until a summary is requested. The first request for it is not answered until the gate opens. */
function waitingForSummary() {
  const gate = Promise.withResolvers<void>();
  const aside = Promise.withResolvers<void>();
  let part = 0;
  let summaries = 0;
  const script = async (request: ModelRequest): Promise<ScriptedAnswer> => {
    const usage = usageOf(request);
    if (promptOf(request).startsWith('aside')) {
      await aside.promise;
      return { text: 'from aside' };
    }
    if (isSummaryRequest(request)) {
      summaries += 1;
      if (summaries === 1) await gate.promise;
      return { text: 'Goal: the sum. Up to here all is read.', usage };
    }
    if (summaries > 0) return { text: 'the sum is 7', usage };
    if (request.messages.length === 1) return { calls: [background('aside')], usage };
    part += 1;
    return {
      calls: [{ name: 'Read', input: { part, size: 200 } }],
      text: `Part ${part}. ${'words '.repeat(400)}`,
      usage,
    };
  };
  const engine: TestEngine = testEngine(script, {
    tools: [readTool],
    facts: async () => ({ contextWindow: 32_000, maxOutput: 1_000, price: null }),
  });
  const main = engine.start('Find the sum of all parts.');
  const isAsked = () => until(() => summaries === 1);
  return { engine, main, isAsked, answer: gate.resolve, letGo: aside.resolve };
}

test('an interrupted summary is requested again, and nothing is dropped', async () => {
  const { engine, main, isAsked, answer, letGo } = waitingForSummary();
  await isAsked();
  engine.engine.interrupt(main.spec.id);
  answer();
  engine.engine.send(main.spec.id, 'go on');
  await until(
    () =>
      main.state.result === 'the sum is 7' || main.state.activity.kind === 'waiting_for_children',
  );
  letGo();
  await main.end.written;
  const types = typesOf(engine.events, main.spec.id);
  expect(types).toContain('context.summarised');
  expect(types).not.toContain('context.dropped');
});

test('a stopped summary is requested again when its conversation continues', async () => {
  const { engine, main, isAsked, answer, letGo } = waitingForSummary();
  await isAsked();
  main.stop(stopOrder('user', 'enough'));
  answer();
  letGo();
  await main.end.written;
  const again = await engine.engine.resume(main.spec.id, { ...ALL, prompt: 'go on' });
  await again.end.written;
  const types = typesOf(engine.events, main.spec.id);
  expect(types).toContain('context.summarised');
  expect(types).not.toContain('context.dropped');
});
