import { isLowerCapFailure } from '../engine/turn/turn-outcome.ts';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';

/**
 * Completes an event of a rerun with the logged values that can't be produced again: random ones (nonces, ids of
 * notices, the wait before a retry), durations (`ms`), and costs, which depend on the prices of that day.
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
        // The failure depends on what other tasks of the tree had used by then.
        ...(isLowerCapFailure(made) && isLowerCapFailure(logged) && { failure: logged.failure }),
      };
    case 'task.started': {
      if (logged.type !== 'task.started' || logged.settings !== undefined) return made;
      return { type: made.type };
    }
    case 'turn.accepted': {
      // An older log does not have this field, so there is nothing to compare the request with.
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

/** Returns the logged prices of a failed answer, of which the log may have none. */
function brokenPrices(logged: Extract<Priced, { type: 'turn.retried' | 'turn.failed' }>) {
  const { model, costUsd } = logged;
  return {
    ...(model === undefined ? {} : { model }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...pricesOf(logged),
  };
}

/** Returns true for an id that was drawn at random by `newId`. */
function isDrawn(id: string): boolean {
  return /^[a-z0-9]{12}$/.test(id);
}
