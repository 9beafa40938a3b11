import { Worker } from 'node:worker_threads';
import { deadlineAfter } from '../../base/deadlines.ts';

/** What the worker is asked: one text, one regular expression. */
export interface MatchRequest {
  readonly text: string;
  readonly source: string;
  readonly flags: string;
  readonly multiline: boolean;
  readonly maxMatches: number;
}

/** Lines, from 0, that each match covers: first and last. */
export type MatchedLines = readonly (readonly [number, number])[];

/**
 * Runs regular expressions beside the main thread, so that one that never ends can be stopped. A
 * backtracking engine has such patterns; killing the thread is the only way out of one.
 */
export class MatchWorker {
  #worker: Worker | undefined;

  /** Undefined: not done within `timeMs`. */
  match(request: MatchRequest, timeMs: number): Promise<MatchedLines | undefined> {
    const worker = (this.#worker ??= new Worker(`(${serve.toString()})()`, { eval: true }));
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        limit.cancel();
        worker.off('message', onMessage);
        worker.off('error', onError);
      };
      const onMessage = (lines: MatchedLines): void => {
        settle();
        resolve(lines);
      };
      const onError = (thrown: Error): void => {
        settle();
        reject(thrown);
      };
      const limit = deadlineAfter(timeMs, () => {
        settle();
        this.close().then(() => resolve(undefined), reject);
      });
      worker.on('message', onMessage);
      worker.on('error', onError);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** The whole program of the worker: it is sent as text, so it uses nothing from outside itself. */
function serve(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads');
  parentPort?.on('message', (request: MatchRequest) => {
    const pattern = new RegExp(request.source, request.flags);
    const found: [number, number][] = [];
    if (request.multiline) {
      let line = 0;
      let at = 0;
      for (const match of request.text.matchAll(pattern)) {
        if (found.length === request.maxMatches) break;
        const first = (line += request.text.slice(at, match.index).split('\n').length - 1);
        at = match.index;
        const body = match[0].endsWith('\n') ? match[0].slice(0, -1) : match[0];
        found.push([first, first + body.split('\n').length - 1]);
      }
    } else {
      const lines = request.text.split('\n');
      if (lines.at(-1) === '') lines.pop();
      for (const [index, line] of lines.entries()) {
        if (found.length === request.maxMatches) break;
        if (pattern.test(line.endsWith('\r') ? line.slice(0, -1) : line))
          found.push([index, index]);
      }
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(found);
  });
}
