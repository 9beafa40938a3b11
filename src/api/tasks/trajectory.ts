import { MusterError } from '../../base/errors.ts';
import { isId } from '../../base/ids.ts';
import { completePrefix } from '../../engine/delegation/create-task.ts';
import { PrefixCache } from '../../engine/prompt/prefix.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { AtifTrajectory } from '../../report/atif-format.ts';
import { buildTrajectory, type LoggedTask } from '../../report/atif-trajectory.ts';
import type { TaskStore } from '../../store/task-store.ts';

/**
 * Builds the trajectory of a task with all tasks below it from their logs. Throws MusterError `NOT_FOUND` if the log has
 * lost its beginning. Such a child is left out.
 *
 * @param redact replaces secrets in the system prompt and the tools, which are not redacted in the store
 */
export function exportTrajectory(
  store: TaskStore,
  id: string,
  redact: (text: string) => string,
): AtifTrajectory {
  const prefixes = new PrefixCache(store);
  const seen = new Set<string>();
  const read = (task: string, parent: string | null): LoggedTask | null => {
    seen.add(task);
    const events: TaskEvent[] = [];
    if (store.exists(task)) store.scan(task, (event) => void events.push(event));
    const [created] = events;
    if (created?.type !== 'task.created') return null;
    if (parent !== null && created.spec.parent !== parent) return null;
    const children = new Map<string, LoggedTask>();
    for (const event of events) {
      if (event.type !== 'child.created' || !isId(event.child) || seen.has(event.child)) continue;
      const child = read(event.child, task);
      if (child !== null) children.set(event.child, child);
    }
    return { events, prefix: loadPrefix(prefixes, created.spec, redact), children };
  };
  const top = read(id, null);
  if (top === null)
    throw new MusterError('NOT_FOUND', `the log of task ${id} has lost its beginning`);
  return buildTrajectory(top);
}

function loadPrefix(
  prefixes: PrefixCache,
  spec: TaskSpec,
  redact: (text: string) => string,
): RequestPrefix | null {
  const shared = spec.fanOut === undefined ? prefixes.load(spec.prefix) : null;
  if (shared === null) return null;
  const { system, tools } = completePrefix(shared, spec);
  return {
    system: system.map(redact),
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description: redact(description),
      inputSchema,
    })),
  };
}
