import { McpServer } from '@modelcontextprotocol/server';
import { VERSION, type Session } from '../../api/index.ts';
import { QuestionAsker } from './question-asker.ts';
import { ServedTasks } from './served-tasks.ts';
import { registerTools } from './served-tools.ts';

/** A client of the server, or several that share their tasks: the tasks, and the way in which their users are asked. */
export interface ServedClient {
  readonly tasks: ServedTasks;
  readonly asker: QuestionAsker;
}

/** The options of all servers of one session. */
export interface TaskServerOptions {
  /** True if each agent is a tool of its own as well. */
  readonly hasToolPerAgent: boolean;
}

/** Creates a client without tasks. `areListed`: see `ServedTasks`. */
export function createServedClient(
  session: Session,
  options: { readonly areListed: boolean },
): ServedClient {
  const tasks = new ServedTasks(session, options);
  return { tasks, asker: new QuestionAsker(session, tasks) };
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
