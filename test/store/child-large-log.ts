import { readFileSync } from 'node:fs';
import { openFileStore } from '../../src/store/file-store.ts';
import { taskSpec, warning } from './fixture-data.ts';

/**
 * A process that writes a log of many megabytes, or reads one in the given way, and prints the growth of its memory at
 * its peak, in bytes.
 */
const [dataDir = '', what = '', megabytes = ''] = process.argv.slice(2);
const ID = 'task00000001';
const MEGABYTE = 1024 * 1024;

/**
 * The peak memory of this program, in bytes (Linux). `getrusage` is of no use: its peak includes the memory of the
 * process that started this one.
 */
function peak(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

function write(): void {
  const log = store.create(taskSpec(ID));
  const wanted = Number(megabytes) * MEGABYTE;
  let written = 0;
  for (let n = 0; written < wanted; n += 1) {
    const small = Array.from({ length: 500 }, (_, at) => warning(`${n} ${at} ${'x'.repeat(900)}`));
    log.append(small);
    const items = Array.from({ length: n === 0 ? 100_000 : 20_000 }, (_, at) => `item ${at}`);
    // Some large lines of small strings, some of strings that become blobs.
    log.append([{ type: 'call.started', callId: `c${n}`, tool: 'Read', input: items }]);
    log.append([warning(`${n} ${'y'.repeat(100_000)}`)]);
    written += 500 * 1000 + items.length * 12;
  }
  log.close();
}

let seen = 0;
const visit = (): void => {
  seen += 1;
};

const uses: Readonly<Record<string, () => unknown>> = {
  write,
  claim: () => store.claim(ID, visit).close(),
  scan: () => store.scan(ID, visit),
  list: () => store.list(),
  whole: () => readFileSync(store.logPath(ID) ?? '').toString(),
};

const store = openFileStore({ dataDir, durability: 'fast' });
const before = peak();
uses[what]?.();
const grown = peak() - before;
await store.close();
console.log(JSON.stringify({ seen, grown }));
