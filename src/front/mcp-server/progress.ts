import type { ServerContext } from '@modelcontextprotocol/server';
import type { TaskEvent } from '../../protocol/events/event.ts';

/**
 * Returns a listener that reports each call of a task and of the tasks below it as progress, if the client has asked for that.
 */
export function createProgressReport({
  mcpReq,
}: ServerContext): ((event: TaskEvent) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  const agents = new Map<string, string>();
  let progress = 0;
  return (event) => {
    if (event.type === 'task.created') agents.set(event.task, event.spec.agent.name);
    if (event.type !== 'call.started') return;
    progress += 1;
    const message = `${agents.get(event.task) ?? event.task}: ${event.tool}`;
    const params = { progressToken, progress, message };
    // A client that has gone ends the request, which is how the task learns of it.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
