import { closeSync, futimesSync, openSync, rmSync, watch, type FSWatcher } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../../base/ids.ts';
import { systemErrorCode } from '../../../base/errors.ts';
import { readTextIfPresent } from '../path-lookup.ts';

/** The time in milliseconds in which the system has to deliver the events about earlier changes. */
const MAX_DELIVERY_MS = 500;
/** The number of events that Linux queues unless it is configured. Further events are lost without a report. */
const DEFAULT_QUEUE_LENGTH = 16_384;

/**
 * Called for each event in a directory, with the name of the changed entry; null if the name is not known. An event about
 * the directory itself has the name of the directory.
 */
type EventListener = (name: string | null) => void;

/**
 * Watches single directories. On Linux all watches of a process share one queue, so the event of a marker file shows
 * that the events of all earlier changes were delivered. Other systems report no changes of the content of files to a
 * watch of their directory.
 */
export class DirectoryWatches {
  /** True if this system can watch directories. Becomes false when it has no more watches. */
  canWatch = process.platform === 'linux';
  private events = 0;
  private readonly maxEvents: number;
  private marker: Marker | null = null;

  constructor() {
    const length = readTextIfPresent('/proc/sys/fs/inotify/max_queued_events');
    this.maxEvents = Math.floor((Number(length) || DEFAULT_QUEUE_LENGTH) / 4);
  }

  /** Watches a directory. Returns null if it cannot be watched, which also sets `canWatch` if there are no more watches. */
  watch(path: string, listener: EventListener): FSWatcher | null {
    if (!this.canWatch) return null;
    try {
      const watcher = watch(path, { persistent: false }, (_, name) => {
        this.events += 1;
        // So many events lead to a comparison of everything, so further names are not kept.
        if (this.events <= this.maxEvents) listener(name);
      });
      watcher.on('error', () => listener(null));
      return watcher;
    } catch (thrown) {
      const code = systemErrorCode(thrown);
      if (code === undefined) throw thrown;
      // A directory that was removed or is closed to this user cannot be listed either.
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') this.canWatch = false;
      return null;
    }
  }

  /**
   * Resolves when the events about all changes so far were delivered. Resolves to false if some may be missing, because
   * there were too many of them or they are late.
   */
  async waitForDelivery(): Promise<boolean> {
    if (!this.canWatch) return false;
    this.marker ??= createMarker();
    if (this.marker === null) {
      this.canWatch = false;
      return false;
    }
    const arrived = await this.marker.pass();
    if (!arrived) {
      this.marker.close();
      this.marker = null;
    }
    const isComplete = this.events <= this.maxEvents;
    this.events = 0;
    return arrived && isComplete;
  }

  close(): void {
    this.canWatch = false;
    this.marker?.close();
    this.marker = null;
  }
}

/** A file without a name whose changes are watched. */
class Marker {
  private readonly descriptor: number;
  private readonly watcher: FSWatcher;
  private readonly state: { passed: () => void };
  private count = 0;

  constructor(descriptor: number, watcher: FSWatcher, state: { passed: () => void }) {
    this.descriptor = descriptor;
    this.watcher = watcher;
    this.state = state;
  }

  /** Changes the file and waits for the event. Resolves to false if the event does not arrive in time. */
  async pass(): Promise<boolean> {
    const arrived = Promise.withResolvers<boolean>();
    // The timer also keeps the process alive, which the watch does not.
    const timer = setTimeout(() => arrived.resolve(false), MAX_DELIVERY_MS);
    this.state.passed = () => arrived.resolve(true);
    this.count += 1;
    futimesSync(this.descriptor, this.count, this.count);
    return await arrived.promise.finally(() => clearTimeout(timer));
  }

  close(): void {
    this.watcher.close();
    closeSync(this.descriptor);
  }
}

/** Creates a marker. Returns null if the temporary directory cannot be written or nothing can be watched. */
function createMarker(): Marker | null {
  const path = join(tmpdir(), `muster-marker-${newId()}`);
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, 'wx+', 0o600);
    // The open file outlives its name, so nothing is left behind if the process dies.
    rmSync(path);
    const state = { passed: (): void => {} };
    const watcher = watch(`/proc/self/fd/${descriptor}`, { persistent: false }, () =>
      state.passed(),
    );
    watcher.on('error', () => {});
    return new Marker(descriptor, watcher, state);
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    if (descriptor !== null) closeSync(descriptor);
    return null;
  }
}
