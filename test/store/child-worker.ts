import { MusterError } from '../../src/base/errors.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { taskEnded, taskSpec, warning } from './fixture-data.ts';

/**
 * A process that creates, claims, lists, sweeps and deletes tasks of a data directory at random for a while. Prints the
 * kinds of operations that succeeded, and each unexpected error.
 */
const [dataDir = '', name = '', milliseconds = '', seed = ''] = process.argv.slice(2);
const store = openFileStore({ dataDir, durability: 'fast' });
const until = Date.now() + Number(milliseconds);
const LARGE = 'large '.repeat(20_000);
/** Errors that other processes cause: they own the task, created it first, or deleted it. */
const EXPECTED: ReadonlySet<string> = new Set(['CONFLICT', 'NOT_FOUND']);

let state = Number(seed);
function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (state >> 8) % below;
}

const idOf = (n: number): string => `task${String(n).padStart(8, '0')}`;
const counts = new Map<string, number>();

function make(id: string): void {
  const prefix = store.putBlob('the prefix of all', { redact: false });
  const log = store.create(taskSpec(id, { prefix }));
  log.append([warning(`${name} ${LARGE}`)]);
  if (random(2) === 0) log.append([taskEnded()]);
  log.close();
}

function goOn(id: string): void {
  const log = store.claim(id);
  log.append([warning(`${name} has it`), taskEnded()]);
  store.appendOutput(id, name);
  log.close();
}

const acts: readonly (readonly [string, (id: string) => unknown])[] = [
  ['make', make],
  ['make', make],
  ['claim', goOn],
  ['claim', goOn],
  ['list', () => store.list()],
  ['exists', (id) => store.exists(id)],
  ['sweep', () => store.sweep({ endedBefore: Date.now() - random(40), maxTasks: 3 })],
  ['delete', (id) => store.delete([id])],
];

while (Date.now() < until) {
  const [what, act] = acts[random(acts.length)] ?? ['none', () => {}];
  try {
    await act(idOf(random(12)));
    counts.set(what, (counts.get(what) ?? 0) + 1);
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || !EXPECTED.has(thrown.code)) {
      console.log(`unexpected at ${what}: ${String(thrown)}`);
    }
  }
}
await store.close();
console.log(`did ${[...counts.keys()].toSorted().join(' ')}`);
