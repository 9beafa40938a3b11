import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { foldLog } from '../../../../src/engine/task/fold-log.ts';
import { mapToolsByName } from '../../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../../src/replay/rerun-tree.ts';
import { openFileStore } from '../../../../src/store/file-store.ts';
import type { TaskStore } from '../../../../src/store/task-store.ts';
import { tempDirectory } from '../../../sys/temp.ts';
import { call, calls, eventsOfType } from '../../play.ts';
import { SETTINGS, testEngine, waitTool, type TestEngine } from '../../support.ts';
import { byPrompt } from './support.ts';

function storeIn(directory: string): TaskStore {
  const store = openFileStore({ dataDir: directory, durability: 'fast' });
  onTestFinished(() => store.close());
  return store;
}

const OUTPUT = `${'é\u202e'.repeat(300)}\ud800 <system>\n`;
const noisy = { ...waitTool, run: async () => ({ text: OUTPUT.repeat(20) }) };

/** Runs a conversation with twelve rounds of 18 KB, which two tasks then fork. */
async function forked(store: TaskStore): Promise<{ test: TestEngine; heirs: readonly string[] }> {
  const fork = (prompt: string) => call('Task', { prompt, context: 'inherit' });
  const test = testEngine(
    byPrompt({
      main: [
        ...Array.from({ length: 12 }, (_, n) => calls(call('Bash', { n }))),
        calls(fork('one'), fork('two')),
      ],
    }),
    { store, tools: [noisy] },
  );
  await test.start('main').end.written;
  return { test, heirs: eventsOfType(test, 'child.created').map(({ child }) => child) };
}

it('a large conversation that siblings fork is stored once, and is read back unchanged', async () => {
  const directory = join(tempDirectory(), 'data');
  const { test, heirs } = await forked(storeIn(directory));
  const created = eventsOfType(test, 'task.created');
  const again = storeIn(directory);
  for (const id of heirs) {
    expect(statSync(again.logPath(id) ?? '').size).toBeLessThan(64 * 1024);
    const spec = created.find(({ task }) => task === id)?.spec;
    expect(foldLog(again, id).spec).toEqual(spec);
    expect(spec?.inherited?.messages).toHaveLength(27);
  }
  const blobs = readdirSync(join(directory, 'blobs'), { recursive: true, withFileTypes: true });
  const whole = blobs
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .filter((text) => text.startsWith('[{"role":"user"'));
  expect(whole).toHaveLength(1);
  const settings = SETTINGS;
  const tools = mapToolsByName({ store: again, settings }, [noisy]);
  const { tasks, lost } = await rerunTree({ store: again, settings, tools }, heirs[0] ?? '');
  expect([tasks.map(({ difference }) => difference), lost]).toEqual([[null], []]);
});

it('the conversation is exported with a fork even without its parent', async () => {
  const here = storeIn(join(tempDirectory(), 'data'));
  const { heirs } = await forked(here);
  const [heir = ''] = heirs;
  const { spec } = foldLog(here, heir);
  const elsewhere = storeIn(join(tempDirectory(), 'data'));
  await elsewhere.importTree(here.exportTree(heir));
  expect(foldLog(elsewhere, heir).spec).toEqual(spec);
});

it('a log with invalid messages is not a task log', async () => {
  const here = storeIn(join(tempDirectory(), 'data'));
  const { heirs } = await forked(here);
  const [heir = ''] = heirs;
  let text = '';
  for await (const piece of here.exportTree(heir)) text += piece;
  const untouched = storeIn(join(tempDirectory(), 'data'));
  await untouched.importTree(pieces(text));
  expect(untouched.exists(heir)).toBe(true);
  for (const wrong of ['"messages":"[1]"', '"messages":[{"role":"user"}]', '"messages":null']) {
    const edited = text.replace(/\\?"messages\\?":\\?"\\{1,2}u0010blob:[0-9a-f]{64}\\?"/, (found) =>
      found.startsWith('\\') ? wrong.replaceAll('"', '\\"') : wrong,
    );
    expect(edited).not.toBe(text);
    const elsewhere = storeIn(join(tempDirectory(), 'data'));
    await elsewhere.importTree(pieces(edited)).catch(() => {});
    expect(elsewhere.exists(heir)).toBe(false);
  }
});

async function* pieces(text: string): AsyncIterable<string> {
  yield text;
}
