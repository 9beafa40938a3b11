import { setImmediate as turnOver, setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DescriptorCache } from '../../../src/store/files/descriptor-cache.ts';
import { SyncQueue } from '../../../src/store/files/sync-queue.ts';
import { PowerLossFiles } from '../power-loss-files.ts';

interface Begun {
  readonly path: string;
  finish(): void;
  fail(): void;
}

/** A disk whose syncs end when the test lets them. */
class SlowDisk extends PowerLossFiles {
  /** Syncs in progress, in the order in which they began. */
  readonly begun: Begun[] = [];
  readonly #paths = new Map<number, string>();

  override openAppend(path: string): number {
    const fd = super.openAppend(path);
    this.#paths.set(fd, path);
    return fd;
  }

  override datasync(fd: number): Promise<void> {
    return this.#begin(this.#paths.get(fd) ?? '');
  }

  override syncDirectory(path: string): Promise<void> {
    return this.#begin(path);
  }

  /** Takes the paths of the syncs that began since the last call. */
  async looked(): Promise<readonly string[]> {
    await turnOver();
    return this.begun.map(({ path }) => path);
  }

  finishAll(): void {
    for (const each of this.begun.splice(0)) each.finish();
  }

  #begin(path: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.begun.push({ path, finish: resolve, fail: () => reject(new Error('EIO')) });
    return promise;
  }
}

function queueOn(paths: readonly string[], descriptors = 400) {
  const files = new SlowDisk();
  for (const path of paths) files.close(files.openNew(path));
  return { files, queue: new SyncQueue(files, new DescriptorCache(files, descriptors)) };
}

/** The results of promises that have settled so far. */
function outcomes(promises: readonly Promise<void>[]): readonly string[] {
  const told = promises.map(() => 'waits');
  for (const [index, promise] of promises.entries())
    promise.then(
      () => (told[index] = 'durable'),
      (thrown: Error) => (told[index] = thrown.message),
    );
  return told;
}

it('makes a log durable at once, whatever other logs do', async () => {
  const { files, queue } = queueOn(['/a', '/b']);
  const told = outcomes([queue.sync('/a'), queue.sync('/b')]);
  expect(await files.looked()).toEqual(['/a', '/b']);
  files.begun[1]?.finish();
  await turnOver();
  expect(told).toEqual(['waits', 'durable']);
});

it('makes blobs of a log durable before it, and its name after it', async () => {
  const { files, queue } = queueOn(['/a', '/blob']);
  queue.addBlob('/blob');
  queue.addDirectory('/');
  const told = outcomes([queue.sync('/a')]);
  for (const path of ['/blob', '/a', '/']) {
    expect(await files.looked()).toEqual([path]);
    expect(told).toEqual(['waits']);
    files.finishAll();
  }
  await turnOver();
  expect(told).toEqual(['durable']);
});

it('lets no log overtake a blob that it may refer to', async () => {
  const { files, queue } = queueOn(['/a', '/b', '/blob']);
  queue.addBlob('/blob');
  const told = outcomes([queue.sync('/a')]);
  expect(await files.looked()).toEqual(['/blob']);
  const later = outcomes([queue.sync('/b')]);
  expect(await files.looked()).toEqual(['/blob']);
  files.finishAll();
  expect((await files.looked()).toSorted()).toEqual(['/a', '/b']);
  // Without shared files, each caller waits only for its log again.
  files.begun.find(({ path }) => path === '/b')?.finish();
  await turnOver();
  expect([...told, ...later]).toEqual(['waits', 'durable']);
});

it('continues log by log after shared files', async () => {
  const { files, queue } = queueOn(['/a', '/b', '/c']);
  queue.addDirectory('/');
  const first = outcomes([queue.sync('/a')]);
  await turnOver();
  const told = outcomes([queue.sync('/b'), queue.sync('/c')]);
  files.finishAll();
  expect(await files.looked()).toEqual(['/']);
  files.finishAll();
  expect(await files.looked()).toEqual(['/b', '/c']);
  files.begun[1]?.finish();
  await turnOver();
  expect([...first, ...told]).toEqual(['durable', 'waits', 'durable']);
});

it('pins at most a quarter of the descriptors', async () => {
  const paths = Array.from({ length: 9 }, (_, index) => `/${index}`);
  const { files, queue } = queueOn(paths, 16);
  const told = outcomes(paths.map((path) => queue.sync(path)));
  for (const share of [paths.slice(0, 4), paths.slice(4, 8), paths.slice(8)]) {
    expect(await files.looked()).toEqual(share);
    files.finishAll();
  }
  await turnOver();
  expect(told).toEqual(paths.map(() => 'durable'));
});

it('fails only the log that failed, and all logs after a shared file failed', async () => {
  const { files, queue } = queueOn(['/a', '/b', '/blob']);
  const told = outcomes([queue.sync('/a'), queue.sync('/b')]);
  await turnOver();
  files.begun.shift()?.fail();
  files.finishAll();
  await turnOver();
  expect(told).toEqual([expect.stringContaining('/a'), 'durable']);

  queue.addBlob('/blob');
  const shared = outcomes([queue.sync('/b')]);
  await turnOver();
  files.begun.shift()?.fail();
  await files.looked();
  files.finishAll();
  await turnOver();
  const after = outcomes([queue.sync('/a')]);
  await files.looked();
  files.finishAll();
  await turnOver();
  expect([...shared, ...after]).toEqual([
    expect.stringContaining('/blob'),
    expect.stringContaining('/blob'),
  ]);
});

it('is idle when no sync is in progress', async () => {
  const { files, queue } = queueOn(['/a']);
  const synced = queue.sync('/a');
  const told = outcomes([queue.waitUntilIdle()]);
  await turnOver();
  expect(told).toEqual(['waits']);
  files.finishAll();
  await synced;
  await turnOver();
  expect(told).toEqual(['durable']);
  await queue.waitUntilIdle();
});

it('makes many logs durable together, and all that wait before it is idle', async () => {
  const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
  const { files, queue } = queueOn(paths, 4_000);
  for (const path of paths) void queue.sync(path);
  expect((await files.looked()).length).toBe(200);
  files.finishAll();
  await sleep(260);
  const told = outcomes([queue.sync('/0'), queue.sync('/1')]);
  expect(await files.looked()).toEqual([]);
  const settled = queue.waitUntilIdle();
  expect(await files.looked()).toEqual(['/0', '/1']);
  files.finishAll();
  await settled;
  await turnOver();
  expect(told).toEqual(['durable', 'durable']);
});

it('lets no log that waits for others overtake a blob that it may refer to by then', async () => {
  const paths = Array.from({ length: 200 }, (_, index) => `/${index}`);
  const { files, queue } = queueOn([...paths, '/blob'], 4_000);
  for (const path of paths) void queue.sync(path);
  await files.looked();
  files.finishAll();
  await sleep(260);
  const told = outcomes([queue.sync('/0')]);
  queue.addBlob('/blob');
  await sleep(20);
  expect(await files.looked()).toEqual(['/blob']);
  files.finishAll();
  expect(await files.looked()).toEqual(['/0']);
  files.finishAll();
  await turnOver();
  expect(told).toEqual(['durable']);
});
