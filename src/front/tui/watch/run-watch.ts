import { ProcessTerminal } from '@earendil-works/pi-tui';
import type { Session, Tasks, TreeListener } from '../../../api/index.ts';
import { systemClock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/errors.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { App } from '../app.ts';
import { supportsHyperlinks } from '../terminal/hyperlinks.ts';
import { findAttentionMethod } from '../terminal/notification.ts';
import { hasWindowTitle } from '../terminal/window-title.ts';
import { EXIT_CODES, holdTerminal } from '../tui.ts';
import { themeFor } from '../view/theme.ts';
import { watchedConversation, watchedLibrary } from './watched-library.ts';

export interface WatchRequest {
  /** The full id of the top task. */
  readonly id: string;
  /** The library from which pages and logs are read. It runs no task. */
  readonly muster: Session;
  readonly tasks: Tasks;
}

/**
 * Shows a task and all tasks below it, in whatever process they run, until the user leaves. Resolves to the exit code.
 * The watched tasks continue when the user leaves.
 */
export async function runWatch({ id, muster, tasks }: WatchRequest): Promise<number> {
  const environment = readEnvironment();
  const left = Promise.withResolvers<number>();
  const reportFailure = (text: string): void =>
    app.session.dispatch({ type: 'request-failed', text });
  const library = watchedLibrary(muster, tasks, reportFailure);
  const app = new App({
    library,
    terminal: new ProcessTerminal(),
    hasHyperlinks: supportsHyperlinks(environment),
    theme: themeFor(environment, muster.terminal.theme),
    hasTitle: hasWindowTitle(environment),
    attention: findAttentionMethod(environment),
    agent: null,
    watched: watchedConversation(id, library, reportFailure),
    notices: [],
    now: systemClock.monotonic,
    onLeave: () => left.resolve(0),
  });
  app.session.open(id);
  const following = new AbortController();
  const { placeTask, session } = app;
  const listener: TreeListener = {
    found: placeTask,
    left: placeTask,
    event: (event, task) => session.dispatch({ type: 'task-event', event, task }),
    passedOver: (count) => session.dispatch({ type: 'tasks-passed-over', count }),
  };
  const followed = tasks
    .follow(id, { listener, signal: following.signal })
    .catch((thrown: unknown) => reportFailure(`no longer following: ${errorMessage(thrown)}`));
  const code = await holdTerminal(app, muster.screenMark, left.promise, (signal) => {
    if (signal !== 'SIGINT' || !app.isTerminalLent) left.resolve(EXIT_CODES[signal]);
  });
  following.abort();
  await followed;
  return code;
}
