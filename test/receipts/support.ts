import { LOG_VERSION, type EventBody, type TaskEvent } from '../../src/protocol/events/event.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';
import type { TaskSpec } from '../../src/protocol/task.ts';
import type { CallDetails, CommandRun } from '../../src/protocol/tool.ts';
import { taskSpec } from '../store/fixture-data.ts';

/**
 * Folds a log that begins with `task.created` and continues with these events. The task works in `/ws` unless
 * `change` says otherwise.
 */
export function stateOf(events: readonly EventBody[], change: Partial<TaskSpec> = {}): TaskState {
  const spec = taskSpec('task00000000', { cwd: '/ws', handed: [], ...change });
  const bodies: readonly EventBody[] = [{ type: 'task.created', spec }, ...events];
  const log = bodies.map((body, seq): TaskEvent =>
    Object.assign({ v: LOG_VERSION, seq, ts: 1_000 + seq, task: spec.id, epoch: 1 }, body),
  );
  return foldEvents(log);
}

/** Returns the events of one call that has ended. */
export function callOf(tool: string, facts: CallDetails = {}, text = 'ok'): readonly EventBody[] {
  const callId = `call-${tool}-${text.length}-${JSON.stringify(facts).length}`;
  return [
    { type: 'call.started', callId, tool, input: {} },
    { type: 'call.ended', callId, tool, text, error: null, facts, ms: 1 },
  ];
}

/** Returns the events of commands that ran one after another. */
export function ranCommands(...runs: readonly (readonly [string, number | null])[]) {
  return runs.flatMap(([command, exitCode]) =>
    callOf('Bash', { commands: [{ command, exitCode }] }),
  );
}

/** Returns the events of a child that has ended, with the commands of its receipt. Null: the child has no receipt. */
export function childOf(id: string, commands: readonly CommandRun[] | null): readonly EventBody[] {
  const spent = { tokens: 0, costUsd: 0 };
  const receipt = commands === null ? {} : { receipt: { commands, commandsLeftOut: 0, tools: [] } };
  return [
    { type: 'child.created', child: id, callId: `call-${id}`, background: false },
    {
      type: 'child.ended',
      child: id,
      status: 'completed',
      changed: [],
      spent,
      below: [],
      ...receipt,
    },
  ];
}
