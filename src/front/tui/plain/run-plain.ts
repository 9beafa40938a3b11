import type { Session } from '../../../api/index.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { runInterface, type TuiOutcome, type TuiRequest } from '../tui.ts';
import { PlainApp } from './plain-app.ts';

/** Opens the UI for a screen reader. Resolves when the user has left it, or when it is to be opened again. */
export async function runPlain(muster: Session, request: TuiRequest): Promise<TuiOutcome> {
  const { stdin: input, stdout: output } = process;
  const streams = { input, output, canMove: readEnvironment()['TERM'] !== 'dumb' };
  return runInterface(muster, request, (options) => new PlainApp({ ...options, streams }));
}
