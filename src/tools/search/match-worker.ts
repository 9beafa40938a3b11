import { Worker } from 'node:worker_threads';
import { deadlineAfter } from '../../base/deadlines.ts';

/** What the worker is asked: one text, one regular expression. */
export interface MatchRequest {
  readonly text: string;
  readonly source: string;
  readonly flags: string;
  readonly multiline: boolean;
  readonly maxMatches: number;
  /** A line with more characters is long. */
  readonly longLine: number;
  readonly maxSpans: number;
}

/** Lines, from 0, that each match covers, and where in long lines matches stand. */
export interface MatchedLines {
  /** First and last line of each match. */
  readonly found: readonly (readonly [number, number])[];
  /** Line, first index in it, and the one behind the last. */
  readonly spans: readonly (readonly [number, number, number])[];
}

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
    const { source, flags, longLine, maxSpans } = request;
    const pattern = new RegExp(source, flags);
    const everywhere = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
    const found: [number, number][] = [];
    const spans: [number, number, number][] = [];
    const text = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);
    const lines = request.text.split('\n');
    if (request.multiline) {
      let line = 0;
      let lineStart = 0;
      for (const match of request.text.matchAll(pattern)) {
        if (found.length === request.maxMatches) break;
        // Behind the last line end there is no line.
        if (
          match.index === request.text.length &&
          (match.index === 0 || request.text.endsWith('\n'))
        )
          break;
        while (lineStart + (lines[line] ?? '').length < match.index) {
          lineStart += (lines[line] ?? '').length + 1;
          line += 1;
        }
        const body = match[0].endsWith('\n') ? match[0].slice(0, -1) : match[0];
        const end = match.index + body.length;
        const first = line;
        let last = line;
        for (let start = lineStart; ; last += 1) {
          const here = text(lines[last] ?? '');
          if (here.length > longLine) {
            const from = Math.max(match.index - start, 0);
            spans.push([last, from, Math.min(end - start, here.length)]);
          }
          start += (lines[last] ?? '').length + 1;
          if (start > end) break;
        }
        found.push([first, last]);
      }
    } else {
      if (lines.at(-1) === '') lines.pop();
      for (const [index, line] of lines.entries()) {
        if (found.length === request.maxMatches) break;
        const here = text(line);
        if (!pattern.test(here)) continue;
        found.push([index, index]);
        if (here.length <= longLine) continue;
        let left = maxSpans;
        for (const match of here.matchAll(everywhere)) {
          spans.push([index, match.index, match.index + match[0].length]);
          left -= 1;
          if (left === 0) break;
        }
      }
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage({ found, spans });
  });
}
