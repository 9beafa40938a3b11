import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { warnings } from './fixture-data.ts';
import { tempDir } from './fixtures.ts';
import { readLog } from './read-log.ts';

const WORKER = fileURLToPath(new URL('child-worker.ts', import.meta.url));
const WORK_MS = '3000';

async function work(dataDir: string, name: string, seed: number): Promise<string> {
  const args = [WORKER, dataDir, name, WORK_MS, String(seed)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

it('two processes create, claim, list, sweep and delete the same tasks without damage', async () => {
  const dataDir = tempDir();
  const told = await Promise.all([work(dataDir, 'one', 1), work(dataDir, 'two', 2)]);
  const did = 'did claim delete exists list make sweep\n';
  expect(told).toEqual([did, did]);

  const store = openFileStore({ dataDir, durability: 'fast' });
  const tasks = store.list();
  for (const { id, status } of tasks) {
    const { events, problems } = readLog(store, id);
    // Two owners at the same time would leave fenced or repeated lines. A lost blob would be a problem, too.
    expect({ id, problems }).toEqual({ id, problems: [] });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    const claims = events.filter(({ type }) => type === 'task.claimed');
    expect(claims.map(({ epoch }) => epoch)).toEqual(claims.map((_, index) => index + 1));
    const path = store.outputPath(id) ?? '';
    const said = existsSync(path) ? readFileSync(path, 'utf8') : '';
    expect(said.length / 'one'.length).toBe(
      warnings(events).filter((text) => text.endsWith('has it')).length,
    );
    expect(status).toBe(events.at(-1)?.type === 'task.ended' ? 'completed' : 'interrupted');
    expect(store.getOwner(id)).toBeNull();
  }
  // The index agrees with the logs, and contains no deleted tasks.
  const ids = new Set(tasks.map(({ id }) => id));
  await store.sweep({ endedBefore: 0, maxTasks: 1 });
  expect(store.list()).toEqual(tasks);
  const index = readFileSync(join(dataDir, 'index.jsonl'), 'utf8');
  const named = new Set(index.match(/task0\d+/g));
  expect([...named].filter((id) => !ids.has(id))).toEqual([]);
  const names = readdirSync(join(dataDir, 'tasks')).filter((name) => !/\.(jsonl|out)$/.test(name));
  expect(names).toEqual([]);
  await store.close();
});
