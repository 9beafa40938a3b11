import { isClosedForLowerCap } from '../engine/turn/retry-with-lower-cap.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';

/**
 * An event as a rerun makes it, with what can't be made again taken from the log: what is drawn at random
 * (nonces, ids of notices, how long a retry waits), what a clock says (`ms`), and what an answer cost,
 * which the prices of that day say. Nothing else is.
 */
export function withLoggedValues(made: EventBody, logged: TaskEvent): EventBody {
  switch (made.type) {
    case 'call.ended':
      if (logged.type !== 'call.ended') return made;
      return {
        ...made,
        ms: logged.ms,
        ...(made.nonce === undefined || logged.nonce === undefined ? {} : { nonce: logged.nonce }),
      };
    case 'turn.ended':
      if (logged.type !== 'turn.ended') return made;
      return {
        ...withoutPrices(made),
        ms: logged.ms,
        costUsd: logged.costUsd,
        ...pricesOf(logged),
      };
    case 'context.summarised':
      if (logged.type !== 'context.summarised') return made;
      return {
        ...withoutPrices(made),
        ms: logged.ms,
        ...(made.nonce === undefined || logged.nonce === undefined ? {} : { nonce: logged.nonce }),
        size: logged.size,
        costUsd: logged.costUsd,
        ...pricesOf(logged),
      };
    case 'summary.refused':
      if (logged.type !== 'summary.refused') return made;
      return {
        ...withoutPrices(made),
        ms: logged.ms,
        costUsd: logged.costUsd,
        ...pricesOf(logged),
      };
    case 'turn.retried':
      if (logged.type !== 'turn.retried') return made;
      return { ...withoutPrices(made), waitMs: logged.waitMs, ...brokenPrices(logged) };
    case 'turn.failed':
      if (logged.type !== 'turn.failed') return made;
      return {
        ...withoutPrices(made),
        ...brokenPrices(logged),
        // What others had used by then, only the log says.
        ...(isClosedForLowerCap(made) &&
          isClosedForLowerCap(logged) && { failure: logged.failure }),
      };
    case 'task.started': {
      if (logged.type !== 'task.started' || logged.settings !== undefined) return made;
      return { type: made.type };
    }
    case 'turn.accepted': {
      // A log from before it was written down: nothing to hold the request against.
      if (logged.type !== 'turn.accepted' || logged.added !== undefined) return made;
      const { added: _, ...rest } = made;
      return rest;
    }
    case 'input.queued': {
      if (logged.type !== 'input.queued' || !isDrawn(made.input.id)) return made;
      return { ...made, input: { ...made.input, id: logged.input.id } };
    }
    default:
      return made;
  }
}

type Priced = Extract<
  EventBody,
  {
    type: 'turn.ended' | 'turn.retried' | 'turn.failed' | 'context.summarised' | 'summary.refused';
  }
>;

function withoutPrices<E extends Priced>(event: E): Omit<E, 'pricedBy' | 'estimated'> {
  const { pricedBy: _, estimated: _estimated, ...rest } = event;
  return rest;
}

function pricesOf({ pricedBy, estimated }: Priced) {
  return {
    ...(pricedBy === undefined ? {} : { pricedBy }),
    ...(estimated === undefined ? {} : { estimated }),
  };
}

/** Of an answer that broke, also whether anything is said of it at all. */
function brokenPrices(logged: Extract<Priced, { type: 'turn.retried' | 'turn.failed' }>) {
  const { model, costUsd } = logged;
  return {
    ...(model === undefined ? {} : { model }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...pricesOf(logged),
  };
}

/** An id of `newId`, and none that says what it is of. */
function isDrawn(id: string): boolean {
  return /^[a-z0-9]{12}$/.test(id);
}
