import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskEvent, Tasks } from '../../api/index.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { cutEvent } from './cut-texts.ts';
import { SIGN_OF_LIFE_MS, type StreamMessage } from './event-stream.ts';
import type { LogMessages } from './wire.ts';

/** The interval at which the size of the log is checked. */
const CHECK_MS = 100;

/**
 * Yields the events of a log after the event with the number `after`, and then new ones until the signal aborts; null as a
 * sign of life. `after` is -1 for all events.
 */
export async function* followLog(
  tasks: Pick<Tasks, 'events' | 'tail'>,
  {
    id,
    after,
    signal,
  }: { readonly id: string; readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<StreamMessage | null, void, undefined> {
  let last = after;
  try {
    for await (const event of tasks.events(id, after + 1)) {
      if (signal.aborted) return;
      yield toMessage(event);
      last = event.seq;
    }
    yield message('live', null, { seq: last });
    const tail = tasks.tail(id);
    let spokeAt = performance.now();
    while (!signal.aborted) {
      const added: TaskEvent[] = [];
      tail.read((event) => {
        if (event.seq > last) added.push(event);
      });
      for (const event of added) {
        yield toMessage(event);
        last = event.seq;
      }
      if (added.length > 0) spokeAt = performance.now();
      else if (performance.now() - spokeAt > SIGN_OF_LIFE_MS) {
        yield null;
        spokeAt = performance.now();
      }
      await sleep(CHECK_MS, undefined, { signal }).catch(() => {});
    }
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    yield message('reset', null, { reason: errorMessage(thrown) });
  }
}

function toMessage(event: TaskEvent): StreamMessage {
  return message('log', String(event.seq), cutEvent(event));
}

function message<Name extends keyof LogMessages>(
  event: Name,
  id: string | null,
  data: LogMessages[Name],
): StreamMessage {
  return { event, id, data: JSON.stringify(data) };
}
