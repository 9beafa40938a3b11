import type { Muster } from '../../../api/index.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { attentionMethodOf } from '../terminal/notification.ts';
import { runInterface, type TuiRequest } from '../tui.ts';
import { PlainApp } from './plain-app.ts';

/** Opens the UI for a screen reader. Resolves to the exit code when the user has left it. */
export async function runPlain(muster: Muster, request: TuiRequest): Promise<number> {
  const environment = readEnvironment();
  const { stdin, stdout } = process;
  return runInterface(muster, request, (options) => {
    const attention = attentionMethodOf(muster.notify, environment);
    const canMove = environment['TERM'] !== 'dumb';
    return new PlainApp({
      ...options,
      attention,
      streams: { input: stdin, output: stdout, canMove },
    });
  });
}
