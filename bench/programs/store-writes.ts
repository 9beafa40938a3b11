/** Writes events through the store and prints the times in ms: `store-writes.ts DATA_DIR LOGS TURNS`. */
import { openFileStore } from '../../src/store/file-store.ts';
import { createRedactor } from '../../src/store/redact/redactor.ts';
import { taskSpec } from '../../test/store/fixture-data.ts';
import { turnEvents } from './turn-events.ts';

const [dataDir = '', logCount, turnCount] = process.argv.slice(2);
const store = openFileStore({
  dataDir,
  durability: 'safe',
  redact: createRedactor({ secrets: ['a-key-that-occurs-nowhere'] }),
});

const startedAt = performance.now();
const logs = Array.from({ length: Number(logCount) }, (_, index) =>
  store.create(taskSpec(`bench${String(index).padStart(7, '0')}`)),
);
const createdAt = performance.now();
for (let turn = 1; turn <= Number(turnCount); turn += 1) {
  const events = turnEvents(turn);
  for (const log of logs) {
    for (const event of events) log.append([event]);
  }
}
const writtenAt = performance.now();
await Promise.all(logs.map((log) => log.sync()));
const syncedAt = performance.now();
console.log(
  JSON.stringify({
    createMs: createdAt - startedAt,
    writeMs: writtenAt - createdAt,
    syncMs: syncedAt - writtenAt,
  }),
);
await store.close();
