import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ScriptedAnswer } from '../../../scripted-model.ts';
import { call, calls, eventsOfType } from '../../play.ts';
import { testEngine, waitTool } from '../../support.ts';
import { byPrompt, requestsFor } from './support.ts';

const words = fc.string({ unit: 'grapheme', maxLength: 20 });
/** The actions of a parent in one turn: its calls, and the number of forks in the same message. */
const round = fc.record({ text: words, calls: fc.integer({ min: 1, max: 3 }), forks: fc.nat(2) });

it('the first request of a fork is the last one of its parent, its answer, fixed results and the task', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { maxLength: 4 }), words, async (rounds, output) => {
      const heirs: { readonly prompt: string; readonly turn: number }[] = [];
      const lines = rounds.map((each, turn): ScriptedAnswer => {
        const forks = Array.from({ length: each.forks }, (_, fork) => `heir ${turn}.${fork}`);
        heirs.push(...forks.map((prompt) => ({ prompt, turn })));
        const own = Array.from({ length: each.calls }, (_, n) => call('Bash', { turn, n }));
        const tasks = forks.map((prompt) =>
          call('Task', { prompt, description: prompt, context: 'inherit' }),
        );
        return { text: each.text, calls: [...own, ...tasks] };
      });
      const tool = { ...waitTool, run: async () => ({ text: output }) };
      const test = testEngine(byPrompt({ main: lines, 'heir 0.0': [calls(call('Bash', {}))] }), {
        tools: [tool],
      });
      await test.start('main').end.written;
      const parent = requestsFor(test.model.requests, 'main');
      for (const { prompt, turn } of heirs) {
        const [first] = requestsFor(test.model.requests, prompt);
        const before = parent[turn];
        const after = parent[turn + 1];
        if (!first || !before || !after) throw new Error('a request is missing');
        const length = before.messages.length;
        expect(first.prefix).toEqual(before.prefix);
        // The parent's next request contains the same answer with its calls.
        expect(first.messages.slice(0, length + 1)).toEqual(after.messages.slice(0, length + 1));
        const [results, task, ...more] = first.messages.slice(length + 1);
        expect(more).toEqual([]);
        const ids = (message = after.messages[length + 1]) =>
          message?.content.map((part) => (part.type === 'tool_result' ? part.callId : ''));
        expect(ids(results)).toEqual(ids());
        expect(new Set(results?.content.map((part) => 'text' in part && part.text)).size).toBe(1);
        expect(task?.content.at(-1)).toEqual({ type: 'text', text: prompt });
      }
      expect(eventsOfType(test, 'child.created')).toHaveLength(heirs.length);
    }),
    { numRuns: 40 },
  );
});
