import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, type Play } from '../play.ts';
import { eventsOf, newWorld, played, resumed, treeOf, type World } from './world.ts';

const CHILD = fileURLToPath(new URL('killed-rewind.ts', import.meta.url));
const MAX_STEPS = 100;

async function workedWorld() {
  const base = tempDirectory();
  const world = newWorld(base);
  world.put('a.txt', 'one');
  world.put('gone.sh', 'echo', 0o755);
  const before = treeOf(world);
  const main: Play[string] = [
    calls(call('Read', { file_path: world.path('a.txt') })),
    calls(
      call('Write', { file_path: world.path('a.txt'), content: 'two' }),
      call('Write', { file_path: world.path('made/new.txt'), content: 'new' }),
      call('DeleteFile', { file_path: world.path('gone.sh') }),
    ),
  ];
  const id = await played(world, { main });
  const to = eventsOf(world.store, id).find(({ type }) => type === 'call.ended')?.seq ?? 0;
  await world.store.close();
  /** Keeps the present state of the files, and returns a function that restores it. */
  const keep = (): (() => void) => {
    const copy = join(tempDirectory(), 'copy');
    fs.cpSync(base, copy, { recursive: true });
    return () => {
      fs.rmSync(base, { recursive: true });
      fs.cpSync(copy, base, { recursive: true });
    };
  };
  return { world, id, to, before, after: treeOf(world), main, keep };
}

/** Opens the world as a new process finds it. */
function reopened(world: World): World {
  return { ...world, store: openFileStore({ dataDir: world.dataDir, durability: 'fast' }) };
}

it('a rewind that was killed at any step has not begun, or is completed by the same command and by a resume', async () => {
  const { world, id, to, before, after, main, keep } = await workedWorld();
  const restore = keep();
  let kills = 0;
  let begun = 0;
  for (; kills < MAX_STEPS; kills += 1) {
    restore();
    const args = [CHILD, world.dataDir, id, String(to), String(kills)];
    const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (signal === null) {
      expect([status, stderr]).toEqual([0, '']);
      break;
    }
    expect(signal).toBe('SIGKILL');
    const restoreKilled = keep();
    const now = reopened(world);
    if (!eventsOf(now.store, id).some(({ type }) => type === 'task.rewound')) {
      expect(treeOf(now)).toEqual(after);
      expect(foldLog(now.store, id).end?.status).toBe('completed');
      await now.store.close();
      continue;
    }
    begun += 1;
    const plan = await planRewind(now.store, id, { to });
    await rewind(now.store, plan);
    expect(treeOf(now)).toEqual(before);
    expect(await planRewind(now.store, id, { to })).toMatchObject({ isThere: true, ends: null });
    expect(foldLog(now.store, id).rewinding).toBeNull();
    await now.store.close();

    restoreKilled();
    const again = reopened(world);
    // The task continues from event `to` and does the same again. No old file is in its way.
    await resumed(again, id, { main });
    expect(treeOf(again)).toEqual(after);
    expect(foldLog(again.store, id).rewinding).toBeNull();
    await again.store.close();
  }
  expect(kills).toBeLessThan(MAX_STEPS);
  expect([kills - begun > 5, begun > 8]).toEqual([true, true]);
});
