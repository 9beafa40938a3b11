import { openFileStore } from '../../src/store/file-store.ts';
import { taskSpec, warning } from './fixture-data.ts';
import { readLog } from './read-log.ts';

/** A process that has many tasks open at once, whatever its limit of open files. */
const [dataDir = '', count = '', maxDescriptors = ''] = process.argv.slice(2);
const store = openFileStore({
  dataDir,
  durability: 'safe',
  maxDescriptors: Number(maxDescriptors),
});
const logs = Array.from({ length: Number(count) }, (_, n) =>
  store.create(taskSpec(`task${String(n).padStart(8, '0')}`)),
);
for (const round of ['first', 'second']) {
  for (const log of logs) {
    log.append([warning(round)]);
    store.appendOutput(log.id, `${round}\n`);
  }
  await Promise.all(logs.map((log) => log.sync()));
}
const isWhole = logs.every((log) => readLog(store, log.id).events.length === 4);
await store.close();
process.stdout.write(isWhole ? 'whole\n' : 'not whole\n');
