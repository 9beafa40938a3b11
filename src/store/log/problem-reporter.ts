import type { LogProblem } from '../task-store.ts';

/** Most lines that one store reports: a disk that is full of damage must not fill a screen. */
const MOST_REPORTS = 100;

/** Tells what is wrong with logs to whoever opened the store, each problem once, one line each. */
export class LogProblemReporter {
  readonly #onProblem: (line: string) => void;
  readonly #reported = new Set<string>();

  constructor(onProblem: (line: string) => void) {
    this.#onProblem = onProblem;
  }

  /** `path` is that of the log. */
  add(path: string, { line, message }: Pick<LogProblem, 'line' | 'message'>): void {
    this.#report(`${path}:${line}`, message);
  }

  /** The log as a whole cannot be read. */
  addUnreadable(path: string, message: string): void {
    this.#report(path, message);
  }

  #report(where: string, message: string): void {
    // The first report about a line says what is lost; a later one only what that means elsewhere.
    if (this.#reported.has(where) || this.#reported.size > MOST_REPORTS) return;
    this.#reported.add(where);
    const isLast = this.#reported.size > MOST_REPORTS;
    this.#onProblem(
      isLast
        ? `more than ${MOST_REPORTS} problems in logs; the rest is not listed`
        : `${where}: ${message}`,
    );
  }
}
