import type { ServerContext } from '@modelcontextprotocol/server';
import type { AgentEventListener } from './served-tasks.ts';

/**
 * Returns a listener that reports each call of a task and of the tasks below it as progress, if the client has asked for that.
 */
export function createProgressReport({ mcpReq }: ServerContext): AgentEventListener | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (event, agent) => {
    if (event.type !== 'call.started') return;
    progress += 1;
    const params = { progressToken, progress, message: `${agent}: ${event.tool}` };
    // A client that has gone ends the request, which is how the task learns of it.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
