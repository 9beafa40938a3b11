import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { openFileStore } from '../../src/store/file-store.ts';
import { taskSpec, warning } from './fixture-data.ts';

/**
 * A process that writes batches until it is killed and acknowledges each on stdout: after the append, or before it, to
 * show that the check would notice.
 */
const [dataDir = '', id = '', order = 'write-first'] = process.argv.slice(2);
// It will be killed before it would write the code that it has compiled.
flushCompileCache();
const store = openFileStore({ dataDir, durability: 'fast' });
const log = store.create(taskSpec(id));
const STDOUT = 1;
const acknowledge = (batch: number): void => {
  writeSync(STDOUT, `ack ${batch}\n`);
};
for (let batch = 0; ; batch += 1) {
  if (order === 'acknowledge-first') acknowledge(batch);
  const padding = 'x'.repeat((batch % 7) * 2000);
  log.append([warning(`${batch} a ${padding}`), warning(`${batch} b`)]);
  if (order === 'write-first') acknowledge(batch);
}
