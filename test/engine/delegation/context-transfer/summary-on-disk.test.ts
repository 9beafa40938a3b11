import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { foldLog } from '../../../../src/engine/task/fold-log.ts';
import { openFileStore } from '../../../../src/store/file-store.ts';
import { createBranch } from '../../../../src/replay/create-branch.ts';
import type { TaskStore } from '../../../../src/store/task-store.ts';
import { tempDirectory } from '../../../sys/temp.ts';
import { isSummaryRequest } from '../../compaction/support.ts';
import { call, calls, eventsOfType, textsOf } from '../../play.ts';
import { testEngine, waitTool, type TestEngine } from '../../support.ts';
import { byPrompt } from './support.ts';

function storeIn(directory: string): TaskStore {
  const store = openFileStore({ dataDir: directory, durability: 'fast' });
  onTestFinished(() => store.close());
  return store;
}

const noisy = { ...waitTool, run: async () => ({ text: 'é </system>\n'.repeat(2_000) }) };

/** Creates an engine in which two children get a summary of a conversation of 200 KB. */
function delegating(store: TaskStore): TestEngine {
  const child = (prompt: string) => call('Task', { prompt, context: 'summary' });
  const others = byPrompt({
    main: [
      ...Array.from({ length: 8 }, (_, n) => calls(call('Bash', { n }))),
      calls(child('one'), child('two')),
    ],
  });
  return testEngine(
    async (request, index) => {
      if (isSummaryRequest(request)) return { text: 'Goal: all of it.' };
      return typeof others === 'function' ? others(request, index) : {};
    },
    { store, tools: [noisy] },
  );
}

async function delegated(store: TaskStore) {
  const test = delegating(store);
  await test.start('main').end.written;
  const [one = '', two = ''] = eventsOfType(test, 'child.created').map(({ child }) => child);
  return { test, one, two };
}

function blobsIn(directory: string): readonly string[] {
  return readdirSync(join(directory, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

it('a large conversation that is summarized for several children is stored once, and is read back unchanged', async () => {
  const directory = join(tempDirectory(), 'data');
  const { test, one, two } = await delegated(storeIn(directory));
  const again = storeIn(directory);
  const created = eventsOfType(test, 'task.created');
  for (const id of [one, two]) {
    expect(statSync(again.logPath(id) ?? '').size).toBeLessThan(64 * 1024);
    const spec = created.find(({ task }) => task === id)?.spec;
    expect(spec?.summarised?.messages).toHaveLength(19);
    expect(foldLog(again, id).spec).toEqual(spec);
  }
  const whole = blobsIn(directory)
    .map((file) => readFileSync(file, 'utf8'))
    .filter((text) => text.startsWith('[{"role":"user"'));
  expect(whole).toHaveLength(1);
});

it('a task that is moved without its parent sends the same requests', async () => {
  const { test, one } = await delegated(storeIn(join(tempDirectory(), 'data')));
  const elsewhere = storeIn(join(tempDirectory(), 'data'));
  await elsewhere.importTree(test.store.exportTree(one));
  const branch = await createBranch(elsewhere, { id: one, at: 1, hasPrompt: true });
  const there = delegating(elsewhere);
  const run = await there.engine.resume(branch.id, {
    prompt: 'more',
    maxRights: (recorded) => recorded,
  });
  await run.end.written;
  const before = test.model.requests.find(isSummaryRequest);
  const [after] = there.model.requests;
  expect([after?.prefix, after?.messages]).toEqual([before?.prefix, before?.messages]);
  expect(run.state.status).toBe('completed');
});

it('if the conversation is lost before the summary was requested, the task continues and says so', async () => {
  const directory = join(tempDirectory(), 'data');
  const { one } = await delegated(storeIn(directory));
  const again = storeIn(directory);
  const branch = await createBranch(again, { id: one, at: 1, hasPrompt: true });
  for (const file of blobsIn(directory)) {
    if (readFileSync(file, 'utf8').startsWith('[{"role":"user"')) rmSync(file);
  }
  const there = delegating(storeIn(directory));
  const run = await there.engine.resume(branch.id, {
    prompt: 'more',
    maxRights: (recorded) => recorded,
  });
  await run.end.written;
  expect(there.model.requests.filter(isSummaryRequest)).toEqual([]);
  expect(textsOf(there.model.requests[0])[0]).toContain(
    'No summary of the conversation could be had',
  );
  expect(run.state.status).toBe('completed');
  expect(run.state.warnings).toContain(
    'the conversation could not be summarized: its messages are lost',
  );
});

it('a log with an invalid conversation is not a task log', async () => {
  const { test, one } = await delegated(storeIn(join(tempDirectory(), 'data')));
  let text = '';
  for await (const piece of test.store.exportTree(one)) text += piece;
  for (const wrong of ['"messages":"[1]"', '"messages":[{"role":"user"}]', '"messages":null']) {
    const edited = text.replace(/\\?"messages\\?":\\?"\\{1,2}u0010blob:[0-9a-f]{64}\\?"/, (found) =>
      found.startsWith('\\') ? wrong.replaceAll('"', '\\"') : wrong,
    );
    expect(edited).not.toBe(text);
    const elsewhere = storeIn(join(tempDirectory(), 'data'));
    await elsewhere.importTree(pieces(edited)).catch(() => {});
    expect(elsewhere.exists(one)).toBe(false);
  }
});

async function* pieces(text: string): AsyncIterable<string> {
  yield text;
}
