import { systemClock } from '../../../base/clock.ts';
import { ProcessTerminal } from '@earendil-works/pi-tui';
import type { Muster, Tasks } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { App } from '../app.ts';
import { callerOf } from '../terminal/notification.ts';
import { themeFor } from '../view/theme.ts';
import { EXIT_CODES, shown } from '../tui.ts';
import { WatchedConversation } from './watched-conversation.ts';
import { watchedMuster, type Tell } from './watched-muster.ts';

export interface WatchRequest {
  /** The task at the top, by its whole id. */
  readonly id: string;
  /** For the pages and the logs; nothing is set to work in it. */
  readonly muster: Muster;
  readonly tasks: Tasks;
}

/**
 * Shows a task and all below it, whoever runs them, until the person leaves; resolves to the exit code.
 * Nothing that is watched ends with it.
 */
export async function runWatch({ id, muster, tasks }: WatchRequest): Promise<number> {
  const environment = readEnvironment();
  const left = Promise.withResolvers<number>();
  const tell: Tell = (text) => app.tell(text);
  const doors = watchedMuster(muster, tasks, tell);
  const app = new App({
    muster: doors,
    terminal: new ProcessTerminal(),
    theme: themeFor(environment),
    caller: callerOf(muster.notify, environment),
    agent: null,
    watched: new WatchedConversation(id, doors, tell),
    notices: [],
    now: systemClock.monotonic,
    onLeave: () => left.resolve(0),
  });
  app.watch(id);
  const following = new AbortController();
  const followed = tasks
    .follow(id, {
      listener: {
        found: app.place,
        left: app.place,
        event: app.onEvent,
        passedOver: app.passOver,
      },
      signal: following.signal,
    })
    .catch((thrown: unknown) => tell(`not followed any more: ${errorMessage(thrown)}`));
  const code = await shown(app, left.promise, (signal) => left.resolve(EXIT_CODES[signal]));
  following.abort();
  await followed;
  return code;
}
