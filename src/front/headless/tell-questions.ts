import type { Run } from '../../api/index.ts';
import { printError } from '../../sys/print.ts';
import { questionLines } from './question-lines.ts';

/** What it was left for, and how to make it go on: nobody who runs it by a script sees it elsewhere. */
export function tellQuestions(run: Run, dataDir: string | null): void {
  const lines = run.parkedOn().flatMap(({ question }) => questionLines(question, dataDir));
  for (const line of lines) printError(`${line}\n`);
}
