import { McpServer } from '@modelcontextprotocol/server';
import { VERSION, type Session } from '../../api/index.ts';
import type { ServedClient } from './served-client.ts';
import { registerTools } from './served-tools.ts';

/** The options of all servers of one session. */
export interface TaskServerOptions {
  /** True if each agent is a tool of its own as well. */
  readonly hasToolPerAgent: boolean;
}

/** Creates the server of the protocol for one connection of a client, or for one request. */
export function createTaskServer(
  session: Session,
  client: ServedClient,
  { hasToolPerAgent }: TaskServerOptions,
): McpServer {
  const server = new McpServer(
    { name: 'muster', version: VERSION },
    // Clients of earlier revisions are asked by QuestionAsker.
    { inputRequired: { legacyShim: false } },
  );
  const { agents } = session.agents;
  registerTools(server, { agents, client, hasToolPerAgent });
  return server;
}
