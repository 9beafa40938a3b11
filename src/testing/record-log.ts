import type { JsonValue } from '../base/json.ts';
import type { EventType, TaskEvent } from '../protocol/events/event.ts';
import type { TaskSignal } from '../protocol/signal.ts';

/** A call of a tool in a run, in the order in which the calls have started or were refused. */
export interface LoggedCall {
  /** The id of the task that made the call. */
  readonly task: string;
  /** The name of the agent of this task. */
  readonly agent: string;
  /** The canonical name of the tool. */
  readonly tool: string;
  /** The arguments; null for a call that was refused before its arguments were read. */
  readonly input: JsonValue;
  /** Whether the call ran. A call without an end was cut off. */
  readonly outcome: 'ended' | 'failed' | 'refused' | 'cut off';
  /** The text for the model: the result, or the reason of the refusal. Null for a call that was cut off. */
  readonly text: string | null;
}

/** The events of a run. */
export interface RecordedLog {
  /** All events, in the order of writing. */
  readonly events: readonly TaskEvent[];
  /** The events of each task by its id, the main task first. */
  readonly byTask: ReadonlyMap<string, readonly TaskEvent[]>;
  /** The calls of tools, in the order in which they have started or were refused. */
  readonly calls: readonly LoggedCall[];
  /** Returns the events of a type, with the fields of this type. */
  ofType<Type extends EventType>(type: Type): readonly Extract<TaskEvent, { type: Type }>[];
}

/**
 * Collects the events of a run until it ends. Called in the same tick as the start of the run, it misses none. Signals are left
 * out. Rejects with the error of a run that could not start.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { recordLog, scriptedModel } from 'muster-agent/testing';
 *
 * await using muster = await createMuster({ model: scriptedModel([{ text: 'four' }]) });
 * const log = await recordLog(muster.run('How many?'));
 * console.log(log.ofType('task.ended').map(({ result }) => result));
 */
export async function recordLog(run: AsyncIterable<TaskEvent | TaskSignal>): Promise<RecordedLog> {
  const events: TaskEvent[] = [];
  for await (const event of run) if ('seq' in event) events.push(event);
  return createLog(events);
}

/**
 * Creates the log of a run from its events, for example from those of `Muster.readEvents`.
 *
 * @example
 * import type { Muster, TaskEvent } from 'muster-agent';
 * import { createLog, type LoggedCall } from 'muster-agent/testing';
 *
 * export async function callsOf(muster: Muster, id: string): Promise<readonly LoggedCall[]> {
 *   const events: TaskEvent[] = [];
 *   for await (const event of muster.readEvents(id)) events.push(event);
 *   return createLog(events).calls;
 * }
 */
export function createLog(events: readonly TaskEvent[]): RecordedLog {
  return {
    events,
    byTask: Map.groupBy(events, ({ task }) => task),
    calls: readCalls(events),
    ofType: <Type extends EventType>(type: Type) =>
      events.filter((event): event is Extract<TaskEvent, { type: Type }> => event.type === type),
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function readCalls(events: readonly TaskEvent[]): readonly LoggedCall[] {
  const agents = new Map<string, string>();
  const inputs = new Map<string, JsonValue>();
  const calls = new Map<string, Mutable<LoggedCall>>();
  for (const event of events) {
    const { task } = event;
    if (event.type === 'task.created') agents.set(task, event.spec.agent.name);
    if (event.type === 'turn.ended') {
      for (const part of event.message.content)
        if (part.type === 'tool_call') inputs.set(`${task}/${part.id}`, part.input);
    }
    if (
      event.type !== 'call.started' &&
      event.type !== 'call.ended' &&
      event.type !== 'call.refused'
    )
      continue;
    const key = `${task}/${event.callId}`;
    const call = calls.get(key) ?? {
      task,
      agent: agents.get(task) ?? '',
      tool: event.tool,
      input: inputs.get(key) ?? null,
      outcome: 'cut off',
      text: null,
    };
    calls.set(key, call);
    if (event.type === 'call.started') call.input = event.input;
    else {
      call.text = event.text;
      if (event.type === 'call.refused') call.outcome = 'refused';
      else call.outcome = event.error === null ? 'ended' : 'failed';
    }
  }
  return [...calls.values()];
}
