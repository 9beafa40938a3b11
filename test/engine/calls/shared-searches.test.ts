import { expect, test } from 'vitest';
import { defineTool } from '../../../src/library.ts';
import { sharedSearches } from '../../../src/tools/search/shared-searches.ts';
import { open } from '../../library/support.ts';
import { createScriptedModel } from '../../scripted-model.ts';

/** Runs two equal searches at the same time, and returns how many were made. */
async function countSearches(): Promise<number> {
  let count = 0;
  const signal = new AbortController().signal;
  const search = () =>
    sharedSearches.run('the same', signal, async () => {
      count += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
  await Promise.all([search(), search()]);
  return count;
}

test('searches are shared while a call runs that has no effects, and not while one runs that may have some', async () => {
  const input = { type: 'object' };
  const description = 'Searches.';
  const run = async () => String(await countSearches());
  const tools = [
    defineTool({ name: 'look', description, input, access: 'none', replay: 'pure', run }),
    defineTool({ name: 'change', description, input, access: 'none', replay: 'opaque', run }),
  ];
  const model = createScriptedModel([
    { calls: [{ name: 'look', input: {} }] },
    { calls: [{ name: 'change', input: {} }] },
    { calls: [{ name: 'look', input: {} }] },
    { text: 'done' },
  ]);
  const muster = await open({ model, tools });
  const results: string[] = [];
  for await (const event of muster.run('Search.')) {
    if (event.type === 'call.ended') results.push(event.text);
  }
  expect(results).toEqual(['1', '2', '1']);
});

test('searches are not shared while a hook runs, which may change files', async () => {
  const counts: number[] = [];
  const hooks = {
    UserPromptSubmit: [
      {
        run: async () => {
          counts.push(await countSearches());
        },
      },
    ],
  };
  const muster = await open({ model: createScriptedModel([{ text: 'done' }]), hooks });
  await muster.run('Search.');
  expect(counts).toEqual([2]);
  expect(await countSearches()).toBe(1);
});
