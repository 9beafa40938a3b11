import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Session } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import { createTaskServer, type TaskServerOptions } from '../create-server.ts';
import { createServedClient, type ServedClient } from '../served-client.ts';
import { refuse } from './refuse.ts';

export interface ClientSessionsOptions extends TaskServerOptions {
  readonly maxSessions: number;
  /** The time after which a session ends that nothing uses. */
  readonly idleMs: number;
  readonly onNotice: (line: string) => void;
}

interface ClientSession {
  readonly client: ServedClient;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** The number of responses that are being sent, including open streams of events. */
  responses: number;
  /** The time of `performance.now()` at which the last response began or ended. */
  usedAt: number;
}

/** The longest time between two searches for sessions that nothing uses. */
const MAX_SWEEP_MS = 60_000;
const SESSION_HEADER = 'mcp-session-id';

/**
 * The sessions of clients of the revisions before 2026-07-28. Each has tasks of its own, which are stopped when it ends. A
 * session ends if nothing uses it for a while: it sends no response, and none of its tasks is at work. A task that waits for
 * an answer is not at work.
 */
export class ClientSessions {
  readonly #session: Session;
  readonly #options: ClientSessionsOptions;
  readonly #sessions = new Map<string, ClientSession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(session: Session, options: ClientSessionsOptions) {
    this.#session = session;
    this.#options = options;
    const sweepMs = Math.min(options.idleMs, MAX_SWEEP_MS);
    this.#sweeper = setInterval(() => this.#endUnused(), sweepMs).unref();
  }

  /**
   * Answers a request.
   *
   * @param body the parsed body; undefined if there is none
   * @param send sends the response, and resolves when it is sent or the client has gone
   */
  async answer(
    request: Request,
    body: unknown,
    send: (response: Response) => Promise<void>,
  ): Promise<void> {
    const id = request.headers.get(SESSION_HEADER);
    const used = id === null ? null : this.#sessions.get(id);
    if (used === undefined) {
      await send(
        refuse(
          404,
          'There is no such session: it has ended, or it never began. Initialize a new one.',
        ),
      );
      return;
    }
    if (used === null && !isInitializeRequest(body)) {
      await send(
        refuse(400, `The header ${SESSION_HEADER} is missing, and this is no initialize request.`),
      );
      return;
    }
    const session = used ?? (await this.#create());
    if (session === null) {
      const { maxSessions } = this.#options;
      await send(
        refuse(
          503,
          `All ${maxSessions} sessions are in use. End one with DELETE, or try again later.`,
        ),
      );
      return;
    }
    session.responses += 1;
    try {
      const options = body === undefined ? {} : { parsedBody: body };
      await send(await session.transport.handleRequest(request, options));
    } finally {
      session.responses -= 1;
      session.usedAt = performance.now();
      // A request that was refused has begun no session.
      if (session.transport.sessionId === undefined) await this.#close(session);
    }
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  /** Creates a session; null if there are too many, and all of them are in use. */
  async #create(): Promise<ClientSession | null> {
    if (this.#sessions.size >= this.#options.maxSessions) {
      const [oldest] = this.#listUnused();
      if (oldest === undefined) return null;
      await this.#end(oldest);
    }
    const client = createServedClient(this.#session, { areListed: true });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      onsessionclosed: (id) => this.#end(id),
    });
    const session = { client, transport, responses: 0, usedAt: performance.now() };
    const server = createTaskServer(this.#session, client, this.#options);
    server.server.onerror = (error) =>
      this.#options.onNotice(`a message of a client: ${errorMessage(error)}`);
    await server.connect(transport);
    return session;
  }

  /** Lists the ids of the sessions that nothing uses now, the one that has not been used for the longest time first. */
  #listUnused(): readonly string[] {
    return [...this.#sessions]
      .filter(([, { client, responses }]) => responses === 0 && !client.tasks.isBusy)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
      .map(([id]) => id);
  }

  #endUnused(): void {
    for (const id of this.#listUnused()) {
      const usedAt = this.#sessions.get(id)?.usedAt ?? 0;
      if (performance.now() - usedAt >= this.#options.idleMs) void this.#end(id);
    }
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    if (session !== undefined) await this.#close(session);
  }

  async #close({ client, transport }: ClientSession): Promise<void> {
    client.asker.close();
    await client.tasks.stopAll('the session of the MCP client has ended');
    await transport.close();
  }
}
