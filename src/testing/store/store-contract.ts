import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { LOG_VERSION, type TaskEvent } from '../../protocol/events/event.ts';
import type { StoredTask, StorePort } from '../../protocol/store-port.ts';

/** One rule of the contract of stores. */
export interface StoreContractCase {
  /** The rule, as a sentence. */
  readonly name: string;
  /** Rejects with an Error that says what the store did, if it breaks the rule. */
  run(): Promise<void>;
}

/**
 * Lists the rules that a store for `MusterOptions.store` must follow. Each case opens a store and uses tasks of its own, so that the
 * cases may share one store.
 *
 * @param openStore opens the store, or returns one that is open
 * @example
 * import { test } from 'node:test';
 * import { memoryStore, storeContract } from 'muster-agent/testing';
 *
 * for (const { name, run } of storeContract(() => memoryStore())) test(name, run);
 */
export function storeContract(
  openStore: () => StorePort | Promise<StorePort>,
): readonly StoreContractCase[] {
  return Object.entries(RULES).map(([name, check]) => ({
    name,
    async run() {
      await check(await openStore());
    },
  }));
}

const RULES: Readonly<Record<string, (store: StorePort) => Promise<void>>> = {
  'a new task has no events': async (store) => {
    const { id } = await create(store);
    equal('its events', await read(store, id), []);
  },
  'a task is created once': async (store) => {
    const task = await create(store);
    await append(store, task.id, 1, [0]);
    await rejects('a second create', 'CONFLICT', () => store.create(task));
    equal('its events', await read(store, task.id), events(task.id, [0]));
  },
  'events are read as they were appended': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0, 1]);
    await append(store, id, 1, [2]);
    equal('its events', await read(store, id), events(id, [0, 1, 2]));
  },
  'events are read from a number on': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0, 1, 2]);
    equal('the events from 1', await read(store, id, 1), events(id, [1, 2]));
    equal('the events from 3', await read(store, id, 3), []);
  },
  'a thousand events of 1 kB in one call are stored': async (store) => {
    const { id } = await create(store);
    const many = events(id, numbers(1000), 'ö'.repeat(512));
    await store.append(id, 1, many);
    equal('its events', await read(store, id), many);
  },
  'an event with another number than the next one is refused': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0]);
    await rejects('an append with a gap', 'CONFLICT', () => append(store, id, 1, [2]));
    equal('its events', await read(store, id), events(id, [0]));
  },
  'a repeated append changes nothing': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0, 1]);
    await append(store, id, 1, [0, 1]);
    equal('its events', await read(store, id), events(id, [0, 1]));
  },
  'other events with numbers that are taken are refused': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0]);
    const other = events(id, [0], 'another');
    await rejects('an append of another event 0', 'CONFLICT', () => store.append(id, 1, other));
    equal('its events', await read(store, id), events(id, [0]));
  },
  'a claim gives the next epoch': async (store) => {
    const { id } = await create(store);
    equal('the first claim', await store.claim(id), { epoch: 2 });
    equal('the second claim', await store.claim(id), { epoch: 3 });
  },
  'claims at the same time give different epochs': async (store) => {
    const { id } = await create(store);
    const claims = await Promise.all(numbers(10).map(() => store.claim(id)));
    const epochs = claims.map(({ epoch }) => epoch).toSorted((a, b) => a - b);
    equal('the epochs', epochs, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  },
  'a former owner can append nothing': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0]);
    await store.claim(id);
    await rejects('an append of epoch 1', 'CONFLICT', () => append(store, id, 1, [1]));
    await rejects('a repeated append of epoch 1', 'CONFLICT', () => append(store, id, 1, [0]));
    await append(store, id, 2, [1]);
    equal('its events', await read(store, id), events(id, [0, 1]));
  },
  'nobody can append with an epoch that was not given': async (store) => {
    const { id } = await create(store);
    await rejects('an append of epoch 2', 'CONFLICT', () => append(store, id, 2, [0]));
    equal('its events', await read(store, id), []);
  },
  'of appends by two owners at the same time, only those of the newer one stay after its claim':
    async (store) => {
      const { id } = await create(store);
      const [, { epoch }] = await Promise.all([
        append(store, id, 1, [0]).catch(() => {}),
        store.claim(id),
      ]);
      const before = await read(store, id);
      const next = before.length;
      await Promise.allSettled([append(store, id, 1, [next]), append(store, id, epoch, [next])]);
      equal('its events', await read(store, id), [...before, ...events(id, [next])]);
      await append(store, id, epoch, [next + 1]);
    },
  'a requested stop is reported to the owner': async (store) => {
    const { id } = await create(store);
    equal('before', await append(store, id, 1, [0]), { cancelRequested: false });
    await store.requestCancel(id);
    equal('afterwards', await append(store, id, 1, [1]), { cancelRequested: true });
    equal('later', await append(store, id, 1, [2]), { cancelRequested: true });
  },
  'a requested stop does not concern the next owner': async (store) => {
    const { id } = await create(store);
    await store.requestCancel(id);
    const { epoch } = await store.claim(id);
    equal('the next owner', await append(store, id, epoch, [0]), { cancelRequested: false });
  },
  'an unknown task is NOT_FOUND': async (store) => {
    const id = newId();
    await rejects('claim', 'NOT_FOUND', () => store.claim(id));
    await rejects('append', 'NOT_FOUND', () => append(store, id, 1, [0]));
    await rejects('watch', 'NOT_FOUND', () => read(store, id));
    await rejects('requestCancel', 'NOT_FOUND', () => store.requestCancel(id));
  },
  'whoever follows a task gets each event once and in order': async (store) => {
    const { id } = await create(store);
    await append(store, id, 1, [0]);
    const abort = new AbortController();
    const seen: TaskEvent[] = [];
    const options = { fromSeq: 0, follow: true, signal: abort.signal };
    const first = deferred<void>();
    const following = (async () => {
      for await (const event of store.watch(id, options)) {
        seen.push(event);
        first.resolve();
        if (seen.length === 20) abort.abort();
      }
    })();
    await endsInTime('the first event', Promise.race([first.promise, following]), abort);
    for (const number of numbers(20).slice(1)) await append(store, id, 1, [number]);
    await endsInTime('following', following, abort);
    equal('what was followed', seen, events(id, numbers(20)));
  },
  'following ends when its signal aborts': async (store) => {
    const { id } = await create(store);
    const abort = new AbortController();
    const options = { fromSeq: 0, follow: true, signal: abort.signal };
    const following = (async () => {
      for await (const event of store.watch(id, options)) throw new Error(`event ${event.seq}`);
    })();
    setTimeout(() => abort.abort(), 20);
    await endsInTime('following', following, abort);
  },
  'a tree is listed with its tasks': async (store) => {
    const main = await create(store);
    const child = await create(store, main);
    await create(store);
    const listed = (await store.list(main.id)).toSorted((a, b) => a.id.localeCompare(b.id));
    equal(
      'the tree',
      listed,
      [main, child].toSorted((a, b) => a.id.localeCompare(b.id)),
    );
    equal('an unknown tree', await store.list(newId()), []);
  },
  'tasks are stored apart from each other': async (store) => {
    const tasks = await Promise.all(numbers(20).map(() => create(store)));
    await Promise.all(tasks.map(({ id }) => append(store, id, 1, [0, 1])));
    for (const { id } of tasks)
      equal('the events of each', await read(store, id), events(id, [0, 1]));
  },
  'a content is stored byte for byte, and may be stored again': async (store) => {
    const content = Uint8Array.from(numbers(256));
    const hash = createHash('sha256').update(content).digest('hex');
    await store.putBlob(hash, content);
    await store.putBlob(hash, content);
    const stored = await store.getBlob(hash);
    equal('the content', stored === null ? null : [...stored], [...content]);
    const other = createHash('sha256').update(newId()).digest('hex');
    equal('an unknown content', await store.getBlob(other), null);
  },
};

/** The maximum time for which the contract waits for an iteration to end. */
const ITERATION_MS = 10_000;

async function create(store: StorePort, parent?: StoredTask): Promise<StoredTask> {
  const id = newId();
  const task = { id, root: parent?.root ?? id, parent: parent?.id ?? null };
  await store.create(task);
  return task;
}

function append(store: StorePort, id: string, epoch: number, seqs: readonly number[]) {
  return store.append(id, epoch, events(id, seqs));
}

/** Creates valid events with characters that are easily damaged. */
function events(
  task: string,
  seqs: readonly number[],
  message = `ä 😀 "'\\ \u0001 \u2028 \uFEFF`,
): readonly TaskEvent[] {
  return seqs.map((seq) => ({
    v: LOG_VERSION,
    seq,
    ts: 1_700_000_000_000 + seq,
    task,
    epoch: 1,
    type: 'notified',
    level: 'info',
    message,
  }));
}

async function read(store: StorePort, id: string, fromSeq = 0): Promise<readonly TaskEvent[]> {
  const found: TaskEvent[] = [];
  for await (const event of store.watch(id, { fromSeq, follow: false })) found.push(event);
  return found;
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function equal(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: expected ${show(expected)}, but the store gave ${show(actual)}`);
}

/** The maximum number of characters of a value in a message. */
const MAX_SHOWN = 1000;

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

async function rejects(
  what: string,
  code: 'CONFLICT' | 'NOT_FOUND',
  run: () => Promise<unknown>,
): Promise<void> {
  let thrown: unknown;
  try {
    await run();
  } catch (caught) {
    thrown = caught;
  }
  if (thrown instanceof MusterError && thrown.code === code) return;
  const seen = thrown === undefined ? 'it succeeded' : `it failed with ${String(thrown)}`;
  throw new Error(`${what}: expected a MusterError with the code ${code}, but ${seen}`);
}

async function endsInTime(
  what: string,
  work: Promise<void>,
  abort: AbortController,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} has not ended after ${ITERATION_MS / 1000} s`)),
      ITERATION_MS,
    );
  });
  try {
    await Promise.race([work, late]);
  } catch (thrown) {
    abort.abort();
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}
