import { McpServer, type Transport } from '@modelcontextprotocol/server';
import { VERSION, type Session } from '../../api/index.ts';
import type { ServedClient } from './served-client.ts';
import { registerTools } from './served-tools.ts';
import { registerTaskResources } from './task-resources.ts';
import { registerTaskUtilities } from './task-utilities.ts';
import { translateCreatedTasks } from './task-wire.ts';

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
  const server = new TaskServer(
    { name: 'muster', version: VERSION },
    // Clients of earlier revisions are asked by QuestionAsker.
    { inputRequired: { legacyShim: false } },
  );
  const { agents } = session.agents;
  registerTools(server, { agents, client, hasToolPerAgent });
  registerTaskUtilities(server, client);
  registerTaskResources(server, session, client);
  return server;
}

/** A server of the SDK whose calls can become tasks of the protocol. */
class TaskServer extends McpServer {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    translateCreatedTasks(transport);
  }
}
