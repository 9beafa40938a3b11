import { createInterface } from 'node:readline';
import { MusterError } from '../../src/base/errors.ts';
import { openFileStore } from '../../src/store/file-store.ts';

/** A process that claims each task whose id it reads, prints the result, and keeps the task. */
const [dataDir = ''] = process.argv.slice(2);
const store = openFileStore({ dataDir, durability: 'fast' });
process.stdout.write('ready\n');
for await (const id of createInterface({ input: process.stdin })) {
  try {
    store.claim(id);
    process.stdout.write(`${id} got\n`);
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    process.stdout.write(`${id} ${thrown.code}\n`);
  }
}
await store.close();
