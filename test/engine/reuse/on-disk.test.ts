import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../../src/store/file-store.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call } from '../play.ts';
import { delegate, looks, workspace } from './support.ts';

const FILES = { 'a.ts': 'export const a = 1;\n' };
const LOOK = { look: looks(call('Read', { file_path: 'a.ts' })) };

function storeIn(directory: string): TaskStore {
  const store = openFileStore({ dataDir: directory, durability: 'fast' });
  onTestFinished(() => store.close());
  return store;
}

describe('results on disk', () => {
  it('are reused by another process on the same data directory', async () => {
    const directory = join(tempDirectory(), 'data');
    const place = workspace(FILES, storeIn(directory));
    const first = await delegate(place, LOOK);
    const second = await delegate({ ...place, store: storeIn(directory) }, LOOK);
    expect(second.state.reused?.of).toBe(first.state.spec.id);
    const listed = storeIn(directory).list();
    expect(listed.filter(({ parent }) => parent !== null)).toMatchObject([
      { id: second.state.spec.id, reused: first.state.spec.id, turns: 0, paidTokens: 0 },
      { id: first.state.spec.id, reuseKey: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  it('are not reused from another data directory, or after they were deleted', async () => {
    const directory = join(tempDirectory(), 'data');
    const place = workspace(FILES, storeIn(directory));
    const { state } = await delegate(place, LOOK);
    const elsewhere = await delegate(
      { ...place, store: storeIn(join(tempDirectory(), 'data')) },
      LOOK,
    );
    expect(elsewhere.requests).toHaveLength(2);
    await place.store.delete([state.spec.root, state.spec.id]);
    expect((await delegate(place, LOOK)).requests).toHaveLength(2);
  });

  it('are not reused if they were imported, even if they were exported from here', async () => {
    const place = workspace(FILES, storeIn(join(tempDirectory(), 'data')));
    const { state } = await delegate(place, LOOK);
    const other = storeIn(join(tempDirectory(), 'data'));
    await other.importTree(place.store.exportTree(state.spec.root));
    // Wait until the tasks are in the index.
    const listed = other.list();
    const { reuseKey } = listed.find(({ id }) => id === state.spec.id) ?? {};
    expect(other.findReusable(reuseKey ?? '')).toEqual([state.spec.id]);
    const { requests, state: ran, test } = await delegate({ ...place, store: other }, LOOK);
    expect(requests).toHaveLength(2);
    expect(test.events.find(({ type }) => type === 'reuse.missed')).toMatchObject({
      task: ran.spec.id,
      because: `task ${state.spec.id} was imported`,
    });
  });

  it('are found by the index, and used by what the log says', async () => {
    const place = workspace(FILES, storeIn(join(tempDirectory(), 'data')));
    const { state } = await delegate(place, LOOK);
    const other = await delegate(place, { look: looks(call('Bash', { command: 'ls' })) });
    expect(other.state.reused?.of).toBe(state.spec.id);
    place.write('a.ts', 'new\n');
    const row = place.store.list().find(({ id }) => id === state.spec.id);
    expect(place.store.findReusable(row?.reuseKey ?? '')).toEqual([state.spec.id]);
    expect(place.store.findReusable('0'.repeat(64))).toEqual([]);
    expect(place.store.findReusable('","id":"')).toEqual([]);
  });
});
