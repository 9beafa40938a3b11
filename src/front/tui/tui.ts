import { ProcessTerminal } from '@earendil-works/pi-tui';
import type { Session } from '../../api/index.ts';
import { systemClock } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printDrawnLines, printText } from '../../sys/print.ts';
import { killAllProcesses } from '../../sys/processes/process-group.ts';
import { App } from './app.ts';
import { findAttentionMethod } from './terminal/notification.ts';
import { supportsHyperlinks } from './terminal/hyperlinks.ts';
import { hasWindowTitle } from './terminal/window-title.ts';
import { restoreTerminal } from '../../sys/terminal-reset.ts';
import type { InterfaceOptions } from './terminal/session.ts';
import type { StartDialog } from './model/dialog.ts';
import type { KeptUi } from './model/kept-ui.ts';
import type { UserSetup } from './terminal/setup-dialogs.ts';
import { describeUnresolved } from './update/commands/conversations.ts';
import { themeFor } from './view/theme.ts';

export interface TuiRequest {
  /** The agent definition that the conversation runs as; null for the main agent. */
  readonly agent: string | null;
  /**
   * The conversation to continue, by its id or the beginning of the id, or the newest one, or the one that the user will
   * choose from a list; null for a new conversation.
   */
  readonly resume: { readonly id: string } | 'newest' | 'choose' | null;
  /** The first message, which is sent at once; null for none. */
  readonly prompt: string | null;
  /** The user's setup that dialogs change. */
  readonly setup: UserSetup;
  /** The dialogs that open at once, one after the other. */
  readonly dialogs: readonly StartDialog[];
  /** The state of the UI in whose place this one is opened; null at the first start. */
  readonly kept: KeptUi | null;
  /** Messages of the start, one line each. */
  readonly notices: readonly string[];
  /** Called when the UI is open. It gets the function that receives all later messages. */
  readonly onOpened: (receive: (line: string) => void) => void;
}

/** Exit codes as shells report them: 128 and the number of the signal. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type EndSignal = keyof typeof EXIT_CODES;
const SIGNALS: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** The time after which everything that has not stopped is killed, because everything must end within 3 s. */
const STOP_TIMEOUT_MS = 2_700;

/** The exit code, or the state of the UI if Muster is to be opened again. */
export type TuiOutcome = number | KeptUi;

/** Opens the terminal UI. Resolves when the user has left it, or when it is to be opened again. */
export async function runTui(muster: Session, request: TuiRequest): Promise<TuiOutcome> {
  const environment = readEnvironment();
  const theme = themeFor(environment, muster.terminal.theme);
  const hasHyperlinks = supportsHyperlinks(environment);
  const hasTitle = hasWindowTitle(environment);
  const terminal = new ProcessTerminal();
  return runInterface(
    muster,
    request,
    (options) => new App({ ...options, terminal, theme, hasHyperlinks, hasTitle }),
  );
}

/** The terminal UI, on a screen or in lines. */
export type TerminalInterface = Pick<App, 'session' | 'start' | 'stop' | 'stopNow'> & {
  /** Handles Ctrl+C if it arrives as a signal. Without this handler the signal ends the process. */
  readonly onInterrupt?: () => void;
  /** Draws the end of the last answer, which stays on the terminal. Absent if the conversation is there already. */
  readonly lastAnswer?: App['lastAnswer'];
  /** Whether another program has the terminal, for which Ctrl+C is meant then. */
  readonly isTerminalLent?: boolean;
};

/** Runs the terminal UI that `open` creates, until the user leaves it or it is to be opened again. */
export async function runInterface(
  muster: Session,
  { agent, resume, prompt, setup, dialogs, kept, notices, onOpened }: TuiRequest,
  open: (options: InterfaceOptions) => TerminalInterface,
): Promise<TuiOutcome> {
  const left = Promise.withResolvers<TuiOutcome>();
  const onRestart = (state: KeptUi) => left.resolve(state);
  const onLeave = () => left.resolve(0);
  const now = systemClock.monotonic;
  const attention = findAttentionMethod(readEnvironment());
  const app = open({ library: muster, agent, notices, setup, now, attention, onRestart, onLeave });
  const id = findResumedId(muster, resume);
  if (id === null) throw new UsageError('no conversation of this directory is in the logs');
  if (id !== undefined) openNamed(app, muster, { id, prompt });
  if (resume === 'choose') {
    app.session.dispatch({ type: 'run-command', name: 'resume', argument: '' });
  }
  onOpened((line) => app.session.note('warning', line));
  const { dispatch } = app.session;
  if (kept !== null) {
    if (kept.model !== null) dispatch({ type: 'run-command', name: 'model', argument: kept.model });
    dispatch({ type: 'restarted', ...kept });
  }
  const isNew = resume === null;
  // The first frame is drawn before the message is sent.
  setImmediate(() => dispatch({ type: 'started', firstMessage: prompt, dialogs, isNew }));
  const outcome = await holdTerminal(app, muster.screenMark, left.promise, (signal) => {
    if (signal === 'SIGINT' && app.isTerminalLent === true) return;
    if (signal === 'SIGINT' && app.onInterrupt !== undefined) app.onInterrupt();
    else left.resolve(EXIT_CODES[signal]);
  });
  printLastAnswer(app);
  const killer = setTimeout(() => void killAllProcesses({ graceMs: 0 }), STOP_TIMEOUT_MS);
  await muster.stop({ by: 'user', because: 'the user left' });
  clearTimeout(killer);
  for (const line of await muster.closeWorkspaces()) printText(`${line}\n`);
  if (typeof outcome !== 'number') return outcome;
  const { id: shown } = app.session.conversation;
  if (shown !== null && muster.store.logPath(shown) !== null) {
    printText(`To continue this conversation: muster --resume ${shown.slice(0, 8)}\n`);
  }
  return outcome;
}

/** Returns the id of the conversation to continue; null if there is none, and undefined for a new conversation. */
function findResumedId(muster: Session, resume: TuiRequest['resume']): string | null | undefined {
  if (resume === null || resume === 'choose') return undefined;
  return resume === 'newest' ? muster.newestConversation() : resume.id;
}

/**
 * Opens the conversation that was named by the beginning of its id. If there is no such conversation, lists all of them,
 * unless a first message waits that was meant for the named one; then the error is thrown.
 */
function openNamed(
  { session }: TerminalInterface,
  { store }: Pick<Session, 'store'>,
  { id, prompt }: { readonly id: string; readonly prompt: string | null },
): void {
  try {
    session.open(store.resolveId(id));
  } catch (thrown) {
    const problem = describeUnresolved(id, thrown);
    if (problem === null || prompt !== null) throw thrown;
    session.dispatch({ type: 'conversation-missing', problem });
  }
}

/** The lines of the terminal that stay free for the message below the last answer and the prompt of the shell. */
const FREE_LINES = 5;

/** Prints the end of the last answer where the screen was, as much as one view of the terminal holds. */
export function printLastAnswer(app: TerminalInterface): void {
  const { columns = 80, rows = 24 } = process.stdout;
  const lines = app.lastAnswer?.({ width: columns, height: rows - FREE_LINES }) ?? [];
  if (lines.length > 0) printDrawnLines([...lines, '']);
}

/** Shows a UI until `left` resolves, and gives the terminal back in any case, even after a crash. */
export async function holdTerminal<Outcome>(
  app: TerminalInterface,
  mark: Session['screenMark'],
  left: Promise<Outcome>,
  onSignal: (signal: EndSignal) => void,
): Promise<Outcome> {
  // On the screen Ctrl+C is a key. The signals arrive if the terminal is gone, or if another program ends this process.
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const giveBack = () => {
    app.stopNow();
    mark.remove();
  };
  process.once('exit', giveBack);
  // The message of a crash must be readable, so the terminal is given back before the message is printed.
  process.once('uncaughtExceptionMonitor', giveBack);
  if (mark.takeLeft()) restoreTerminal();
  mark.set();
  app.start();
  const outcome = await left;
  process.off('exit', giveBack);
  process.off('uncaughtExceptionMonitor', giveBack);
  await app.stop();
  mark.remove();
  for (const signal of SIGNALS) process.off(signal, onSignal);
  return outcome;
}
