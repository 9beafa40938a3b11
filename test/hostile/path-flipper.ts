import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** In a thread of its own, as fast as it can: the path is what it was, then a link, and so on. */
const FLIPPING = `
const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
const { parentPort, workerData: { path, target, stop } } = require('node:worker_threads');
const flag = new Int32Array(stop);
const place = (from) => {
  try {
    renameSync(from, path);
  } catch {
    // Somebody made it anew while it was away, and may be at it still.
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {}
    place(from);
  }
};
symlinkSync(target, path + '.flip-link');
parentPort.postMessage('ready');
while (Atomics.load(flag, 0) === 0) {
  renameSync(path, path + '.flip-kept');
  place(path + '.flip-link');
  renameSync(path, path + '.flip-link');
  place(path + '.flip-kept');
}
unlinkSync(path + '.flip-link');
`;

/** A file or directory that is a link to somewhere else every other moment: the classic race. */
export class PathFlipper {
  private readonly worker: Worker;
  private readonly flag: Int32Array;

  private constructor(worker: Worker, flag: Int32Array) {
    this.worker = worker;
    this.flag = flag;
  }

  static async start(path: string, target: string): Promise<PathFlipper> {
    const stop = new SharedArrayBuffer(4);
    const worker = new Worker(FLIPPING, { eval: true, workerData: { path, target, stop } });
    await once(worker, 'message');
    return new PathFlipper(worker, new Int32Array(stop));
  }

  /** Afterwards the path is what it was before. */
  async stop(): Promise<void> {
    const ended = once(this.worker, 'exit');
    Atomics.store(this.flag, 0, 1);
    await ended;
  }
}
