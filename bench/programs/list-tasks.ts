/** Lists the tasks of the data directory at argv[2] through the store and prints the time in ms. */
import { openStore } from '../../src/store/file-store.ts';

const [dataDir = ''] = process.argv.slice(2);
const startedAt = performance.now();
const store = openStore({ dataDir, durability: 'safe' });
const tasks = store.list().length;
console.log(JSON.stringify({ tasks, listMs: performance.now() - startedAt }));
await store.close();
