import { systemClock } from '../../base/clock.ts';
import { ProcessTerminal } from '@earendil-works/pi-tui';
import type { Muster } from '../../api/index.ts';
import { UsageError } from '../../base/errors.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printText } from '../../sys/print.ts';
import { killAllProcesses } from '../../sys/processes.ts';
import { App } from './app.ts';
import type { AppOptions } from './app-options.ts';
import { callerOf } from './terminal/notification.ts';
import { themeFor } from './view/theme.ts';

export interface TuiRequest {
  /** The definition that the conversation runs as; null: the main agent. */
  readonly agent: string | null;
  /** The task to go on with: an id or its beginning, or the newest conversation; null: a new one. */
  readonly resume: { readonly id: string } | 'newest' | null;
  /** Whether it can be resumed: nothing is kept of it otherwise. */
  readonly isLogged: boolean;
  /** What the start had to say, a line each. */
  readonly notices: readonly string[];
  /** Who hears what there is to say from here on. */
  readonly onOpened: (hear: (line: string) => void) => void;
}

/** 128 + the signal's number, as shells report it. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What has not stopped by itself after this long is killed: 3 s are promised for all of it. */
const STOP_MS = 2_700;

/** Opens the terminal UI and resolves, to the exit code, when the person has left it. */
export async function runTui(muster: Muster, request: TuiRequest): Promise<number> {
  const environment = readEnvironment();
  return runFace(
    muster,
    request,
    (options) =>
      new App({
        ...options,
        terminal: new ProcessTerminal(),
        theme: themeFor(environment),
        caller: callerOf(muster.notify, environment),
      }),
  );
}

/** A view of a conversation that a person has. */
export type Face = Pick<App, 'continue' | 'id' | 'note' | 'start' | 'stop' | 'stopNow'> & {
  /** Ctrl+C, where it comes as a signal and not as a key; absent: it ends the process. */
  readonly onInterrupt?: () => void;
};

/** The same for any view. */
export async function runFace(
  muster: Muster,
  { agent, resume, isLogged, notices, onOpened }: TuiRequest,
  open: (options: Omit<AppOptions, 'terminal' | 'theme' | 'caller'>) => Face,
): Promise<number> {
  const left = Promise.withResolvers<number>();
  const onLeave = () => left.resolve(0);
  const app = open({ muster, agent, notices, now: systemClock.monotonic, onLeave });
  const id = resume === 'newest' ? muster.newestConversation() : resume?.id;
  if (id === null) throw new UsageError('no conversation of this directory is in the logs');
  if (id !== undefined) app.continue(muster.store.resolveId(id));
  onOpened((line) => app.note('warning', line));
  const code = await shown(app, left.promise, (signal) => {
    if (signal === 'SIGINT' && app.onInterrupt !== undefined) app.onInterrupt();
    else left.resolve(EXIT_CODES[signal]);
  });
  const killer = setTimeout(() => void killAllProcesses({ graceMs: 0 }), STOP_MS);
  await muster.stop({ by: 'user', because: 'the user left' });
  clearTimeout(killer);
  if (app.id !== null && isLogged) {
    printText(`To go on with this conversation: muster --resume ${app.id.slice(0, 8)}\n`);
  }
  return code;
}

/** Holds the terminal until `left`, and gives it back whatever happens. */
export async function shown(
  app: Face,
  left: Promise<number>,
  onSignal: (signal: keyof typeof EXIT_CODES) => void,
): Promise<number> {
  // In the screen Ctrl+C is a key; these come when the terminal has gone, or somebody ends the process.
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const giveBack = () => app.stopNow();
  process.once('exit', giveBack);
  // What a bug has to say is to be read on the terminal as it was.
  process.once('uncaughtExceptionMonitor', giveBack);
  app.start();
  const code = await left;
  process.off('exit', giveBack);
  process.off('uncaughtExceptionMonitor', giveBack);
  await app.stop();
  for (const signal of SIGNALS) process.off(signal, onSignal);
  return code;
}
