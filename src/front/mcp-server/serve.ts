import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';
import { VERSION, type Session } from '../../api/index.ts';
import { deferred } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import { QuestionAsker } from './question-asker.ts';
import { ServedTasks } from './served-tasks.ts';
import { registerTools } from './served-tools.ts';

export interface ServeOptions {
  readonly input: Readable;
  /** The only stream on which the protocol is written. */
  readonly output: Writable;
  /** True if each agent is a tool of its own as well. */
  readonly hasToolPerAgent: boolean;
  /** Called with one line for each message that could not be used. */
  readonly onNotice: (line: string) => void;
  /** Ends the server when it aborts. */
  readonly signal: AbortSignal;
}

/** The maximum size of one message of a client. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** The maximum number of questions of one request, and the time for each of them. */
const MAX_QUESTIONS = 1000;
const QUESTION_MS = 24 * 60 * 60 * 1000;

/**
 * Offers the agents of a session to an MCP client over a pair of streams, until the client closes its end. All tasks that it has
 * started are then stopped.
 */
export async function serveTasks(session: Session, options: ServeOptions): Promise<void> {
  const { input, output, hasToolPerAgent, onNotice, signal } = options;
  const closed = deferred<void>();
  const tasks = new ServedTasks(session);
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES });
  const askers: QuestionAsker[] = [];
  const handle = serveStdio(
    () => {
      const server = new McpServer(
        { name: 'muster', version: VERSION },
        { inputRequired: { maxRounds: MAX_QUESTIONS, roundTimeoutMs: QUESTION_MS } },
      );
      const asker = new QuestionAsker(session, () => server.server.getClientCapabilities());
      askers.push(asker);
      registerTools(server, { agents: session.agents.agents, asker, tasks, hasToolPerAgent });
      server.server.onclose = () => closed.resolve();
      return server;
    },
    { transport, onerror: (error) => onNotice(`a message of the client: ${errorMessage(error)}`) },
  );
  const end = (): void => closed.resolve();
  input.once('end', end);
  input.once('close', end);
  signal.addEventListener('abort', end, { once: true });
  await closed.promise;
  await handle.close();
  for (const asker of askers) asker.close();
  await session.stop({ by: 'client', because: 'the MCP client has gone' });
}
