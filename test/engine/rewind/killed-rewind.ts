import { restoreFile } from '../../../src/engine/rewind/restore-file.ts';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';

/** Rewinds task ID of data directory DIR to event N, and kills this process at step K, from 0. */
const [dataDir = '', id = '', to = '', killAt = ''] = process.argv.slice(2);

let steps = 0;
/** Marks a step. Between two steps at most one thing is written. */
function step(): void {
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  steps += 1;
}

async function around<T>(work: () => T | Promise<T>): Promise<T> {
  step();
  const result = await work();
  step();
  return result;
}

function stepping(store: TaskStore): TaskStore {
  const { claim, putBackup: keepFormer } = store;
  store.putBackup = (bytes) => around(() => keepFormer.call(store, bytes));
  store.claim = (task, visit) => {
    step();
    const log = claim.call(store, task, visit);
    step();
    return {
      id: log.id,
      epoch: log.epoch,
      opening: log.opening,
      append: (bodies) => {
        step();
        const events = log.append(bodies);
        step();
        return events;
      },
      sync: () => around(() => log.sync()),
      close: () => log.close(),
    };
  };
  return store;
}

const store = stepping(openFileStore({ dataDir, durability: 'fast' }));
const plan = await planRewind(store, id, { to: Number(to) });
await rewind(store, plan, { restore: (...file) => around(() => restoreFile(...file)) });
await store.close();
