/** Creates tasks that have ended: `ended-tasks.ts DATA_DIR COUNT`. */
import { openFileStore } from '../../src/store/file-store.ts';
import { taskSpec } from '../../test/store/fixture-data.ts';

const [dataDir = '', count] = process.argv.slice(2);
const store = openFileStore({ dataDir, durability: 'fast' });
for (let index = 0; index < Number(count); index += 1) {
  const log = store.create(taskSpec(`bench${String(index).padStart(7, '0')}`));
  const end = {
    status: 'completed',
    error: null,
    because: 'the model ended its answer',
    by: null,
  } as const;
  log.append([{ type: 'task.ended', end, result: 'Here it is.' }]);
  log.close();
}
await store.close();
