import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import type { StorePort } from '../../src/protocol/store-port.ts';
import { ProgramStore } from '../../src/store/program-store.ts';
import { memoryStore } from '../../src/testing/index.ts';

const never = new Promise<never>(() => {});

test.each<[string, Partial<StorePort>, string]>([
  ['watch', { watch: () => ({ [Symbol.asyncIterator]: () => ({ next: () => never }) }) }, 'watch('],
  ['claim', { claim: () => never }, 'claim('],
])('a tree is not waited for without a limit if %s never answers', async (_name, change, call) => {
  const good = memoryStore();
  const id = newId();
  await good.create({ id, root: id, parent: null });
  const store = new ProgramStore(
    { ...good, ...change },
    { redact: (text) => text, onCancelRequested: () => {}, callMs: 50 },
  );
  await expect(store.load(id, { takesOver: true })).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: expect.stringContaining(`the store of the program failed in ${call}`),
  });
  await store.close();
});

test('an event of another task, or with another number, is an error', async () => {
  const good = memoryStore();
  const id = newId();
  await good.create({ id, root: id, parent: null });
  for (const change of [{ task: newId() }, { seq: 1 }]) {
    const event = { v: 1, seq: 0, ts: 0, task: id, epoch: 1, type: 'warning', message: 'x' };
    const store = new ProgramStore(
      {
        ...good,
        async *watch() {
          yield { ...event, ...change } as never;
        },
      },
      { redact: (text) => text, onCancelRequested: () => {} },
    );
    await expect(store.load(id, { takesOver: false })).rejects.toMatchObject({
      code: 'INVALID_PARAM',
      message: expect.stringContaining('event 0 is missing or not valid'),
    });
    await store.close();
  }
});
