import type { Muster } from '../../../api/index.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { runInterface, type TuiRequest } from '../tui.ts';
import { PlainApp } from './plain-app.ts';

/** Opens the UI for a screen reader. Resolves to the exit code when the user has left it. */
export async function runPlain(muster: Muster, request: TuiRequest): Promise<number> {
  const { stdin: input, stdout: output } = process;
  const streams = { input, output, canMove: readEnvironment()['TERM'] !== 'dumb' };
  return runInterface(muster, request, (options) => new PlainApp({ ...options, streams }));
}
