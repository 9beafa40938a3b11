import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { taskEnded, taskSpec } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';
import { PowerLossFiles } from './power-loss-files.ts';
import { hashContent } from '../../src/sys/files/read-file.ts';

const ONE = 'task00000001';
const TWO = 'task00000002';
/** Bytes that are no text in any encoding. */
const BYTES = Buffer.from([0, 255, 254, 10, 0]);

function open(dataDir: string): TaskStore {
  const store = openFileStore({ dataDir, durability: 'safe' });
  onTestFinished(() => store.close());
  return store;
}

/** Creates a task whose log says that it changed files with these contents. */
async function changer(store: TaskStore, id: string, held: readonly Buffer[]): Promise<void> {
  const log = store.create(taskSpec(id));
  for (const bytes of held) await store.putBackup(bytes);
  const changed = held.map((bytes) => ({ path: '/w/a', before: hashContent(bytes), after: null }));
  log.append([
    {
      type: 'call.ended',
      callId: 'c',
      tool: 'DeleteFile',
      text: '',
      error: null,
      facts: { changed },
      ms: 1,
    },
    taskEnded(),
  ]);
  log.close();
}

it('keeps the bytes of a file readable by their user only', async () => {
  const dataDir = tempDir();
  const store = openFileStore({ dataDir, durability: 'safe', redact: () => 'redacted' });
  onTestFinished(() => store.close());
  await store.putBackup(BYTES);
  const hash = hashContent(BYTES);
  expect(store.getBackup(hash)).toEqual(BYTES);
  expect([store.hasBackup(hash), store.hasBackup(hashContent('else'))]).toEqual([true, false]);
  expect([
    store.getBackup(hashContent('else')),
    store.getBackup('../x'),
    store.hasBackup('../x'),
  ]).toEqual([null, null, false]);
  const path = join(dataDir, 'former', hash);
  expect([statSync(join(dataDir, 'former')).mode & 0o777, statSync(path).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);
  writeFileSync(path, 'damaged');
  expect(store.getBackup(hash)).toBeNull();
});

it('survives a power loss once it is stored', async () => {
  const files = new PowerLossFiles();
  const options = { dataDir: '/home/me/muster', durability: 'safe', files } as const;
  await openFileStore(options).putBackup(BYTES);
  files.losePower();
  expect(openFileStore(options).getBackup(hashContent(BYTES))).toEqual(BYTES);
});

it('is deleted with the last task whose log refers to it', async () => {
  const dataDir = tempDir();
  const writer = openFileStore({ dataDir, durability: 'safe' });
  await changer(writer, ONE, [BYTES, Buffer.from('one')]);
  await changer(writer, TWO, [BYTES]);
  await writer.close();
  const store = open(dataDir);
  const former = () => readdirSync(join(dataDir, 'former')).toSorted();
  expect(former()).toEqual([hashContent(BYTES), hashContent('one')].toSorted());
  await store.delete([ONE]);
  expect(former()).toEqual([hashContent(BYTES)]);
  await store.delete([TWO]);
  expect(former()).toEqual([]);
});

it('is deleted by a sweep if no log refers to it', async () => {
  const dataDir = tempDir();
  const writer = openFileStore({ dataDir, durability: 'safe' });
  await changer(writer, ONE, [Buffer.from('named')]);
  await writer.putBackup(BYTES);
  await writer.close();
  await open(dataDir).sweep({ endedBefore: 0, maxTasks: 10 });
  expect(readdirSync(join(dataDir, 'former'))).toEqual([hashContent('named')]);
});
