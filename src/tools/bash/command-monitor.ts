import type { Readable } from 'node:stream';
import { deferred } from '../../base/async.ts';
import { readReport, type MonitorReport } from '../../sys/sandbox/monitor-script.ts';

/** Characters: a few short lines, and whatever else gets there. */
const MOST_SAID = 4096;

/** Listens to the process that stands outside of a sandbox and tells about the command in it. */
export class Monitor {
  /** Resolves once the command runs; rejects when there will be none. */
  readonly begun: Promise<void>;
  /** Resolves when nothing more will be said. */
  readonly closed: Promise<void>;
  private said = '';

  constructor(stderr: Readable) {
    const begun = deferred<void>();
    const closed = deferred<void>();
    this.begun = begun.promise;
    this.closed = closed.promise;
    // Who waits for the end of the command hears of it, too.
    this.begun.catch(() => {});
    stderr.on('data', (chunk: Buffer) => {
      this.said = (this.said + chunk.toString('utf8')).slice(0, MOST_SAID);
      if (this.report().begun) begun.resolve();
    });
    const close = (): void => {
      begun.reject(new Error(this.report().problem));
      closed.resolve();
    };
    stderr.once('close', close);
    // A pipe that breaks has nothing more to say; how the command ended is told by its exit.
    stderr.once('error', close);
  }

  report(): MonitorReport {
    return readReport(this.said);
  }
}
