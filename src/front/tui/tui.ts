import { ProcessTerminal } from '@earendil-works/pi-tui';
import type { MusterOptions } from '../../api/index.ts';
import { createMuster } from '../../api/muster.ts';
import { UsageError } from '../../base/errors.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printText } from '../../sys/print.ts';
import { killAllProcesses } from '../../sys/processes.ts';
import { App } from './app.ts';
import { themeFor } from './render/theme.ts';

export interface TuiRequest {
  readonly options: Omit<MusterOptions, 'questions' | 'onNotice'>;
  /** The definition that the conversation runs as; null: the main agent. */
  readonly agent: string | null;
  /** The task to go on with: an id or its beginning, or the newest conversation; null: a new one. */
  readonly resume: { readonly id: string } | 'newest' | null;
}

const EXIT_CODES = { SIGTERM: 143, SIGHUP: 129 } as const;
/** What has not stopped by itself after this long is killed: SPEC gives 3 s for all of it. */
const STOP_MS = 2_700;

/** Opens the terminal UI and resolves, to the exit code, when the person has left it. */
export async function runTui({ options, agent, resume }: TuiRequest): Promise<number> {
  if (readEnvironment()['TERM'] === 'dumb') {
    throw new UsageError('this terminal (TERM=dumb) can show no screen; muster -p "…" needs none');
  }
  const notices: string[] = [];
  let app: App | null = null;
  const muster = await createMuster({
    ...options,
    questions: 'wait',
    onNotice: (line) => (app === null ? notices.push(line) : app.note('warning', line)),
  });
  try {
    const left = Promise.withResolvers<number>();
    const opened = new App({
      muster,
      terminal: new ProcessTerminal(),
      theme: themeFor(readEnvironment()),
      agent,
      notices,
      now: Date.now,
      onLeave: () => left.resolve(0),
    });
    const id = resume === 'newest' ? muster.newestConversation() : resume?.id;
    if (id === null) throw new UsageError('no conversation of this directory is in the logs');
    if (id !== undefined) opened.continue(muster.store.resolveId(id));
    app = opened;
    const forget = onSignals((code) => left.resolve(code));
    const giveBack = () => opened.stopNow();
    process.once('exit', giveBack);
    // What a bug has to say is to be read on the terminal as it was.
    process.once('uncaughtExceptionMonitor', giveBack);
    opened.start();
    const code = await left.promise;
    process.off('exit', giveBack);
    process.off('uncaughtExceptionMonitor', giveBack);
    await opened.stop();
    forget();
    const killer = setTimeout(() => void killAllProcesses({ graceMs: 0 }), STOP_MS);
    await muster.stop({ by: 'user', because: 'the user left' });
    clearTimeout(killer);
    if (opened.id !== null && options.log !== false) {
      printText(`To go on with this conversation: muster --resume ${opened.id.slice(0, 8)}\n`);
    }
    return code;
  } finally {
    await muster.close();
  }
}

/** The terminal is gone, or somebody ends the process. In the screen Ctrl+C is a key. */
function onSignals(end: (code: number) => void): () => void {
  const handlers = (['SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const handler = () => end(EXIT_CODES[signal]);
    process.on(signal, handler);
    return { signal, handler };
  });
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}
