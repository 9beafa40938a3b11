import type { LogProblem } from '../task-store.ts';

/** The number of problems that a store reports, so that a badly damaged disk does not fill the screen. */
const MAX_REPORTS = 100;

/** Reports problems of logs to the user of the store, each problem once and in one line. */
export class LogProblemReporter {
  readonly #onProblem: (line: string) => void;
  readonly #reported = new Set<string>();

  constructor(onProblem: (line: string) => void) {
    this.#onProblem = onProblem;
  }

  /** Reports a problem in the log at `path`. */
  add(path: string, { line, message }: Pick<LogProblem, 'line' | 'message'>): void {
    this.#report(`${path}:${line}`, message);
  }

  /** Reports that the log at `path` cannot be read. */
  addUnreadable(path: string, message: string): void {
    this.#report(path, message);
  }

  #report(location: string, message: string): void {
    // The first report about a line says what is lost. Later ones only repeat its consequences.
    if (this.#reported.has(location) || this.#reported.size > MAX_REPORTS) return;
    this.#reported.add(location);
    const isLast = this.#reported.size > MAX_REPORTS;
    this.#onProblem(
      isLast
        ? `more than ${MAX_REPORTS} problems in logs; the rest is not listed`
        : `${location}: ${message}`,
    );
  }
}
