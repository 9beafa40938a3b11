/** Lists the tasks of the data directory at argv[2] through the store and prints the time in ms. */
import { openFileStore } from '../../src/store/file-store.ts';

const [dataDir = ''] = process.argv.slice(2);
const startedAt = performance.now();
const store = openFileStore({ dataDir, durability: 'safe' });
const tasks = store.list().length;
console.log(JSON.stringify({ tasks, listMs: performance.now() - startedAt }));
await store.close();
