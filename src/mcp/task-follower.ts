import type { Clock } from '../base/clock.ts';
import type { LimitedRequest } from './call-limits.ts';
import type { ConnectionUse } from './connection-status.ts';
import type { McpCallResult, McpTask } from './server-data.ts';
import { serverId, type McpServerEntry } from './server-entry.ts';
import { McpServerError } from './server-error.ts';
import type { TaskObserver } from './server-tasks.ts';
import type { McpSession } from './session.ts';

/** The maximum number of tasks of one server that are followed at the same time. */
const MAX_TASKS = 32;
/** The maximum number of connections that may be lost in a row while one task is followed. */
const MAX_LOST = 3;
/** The failures after which a task may still run in its server. */
const GIVES_UP_TASK: ReadonlySet<McpServerError['kind']> = new Set([
  'timeout',
  'unsupported',
  'invalid',
]);

/** The connection over which tasks are followed. */
interface Connection {
  use<T>(
    use: ConnectionUse,
    send: (session: McpSession, request: LimitedRequest) => Promise<T>,
  ): Promise<T>;
}

/** Follows the tasks of one server, also over several connections to it. */
export class TaskFollower {
  private readonly entry: McpServerEntry;
  private readonly clock: Clock;
  private readonly connection: Connection;
  private readonly findSession: () => McpSession | null;
  private count = 0;

  constructor(
    { entry, clock }: { readonly entry: McpServerEntry; readonly clock: Clock },
    connection: Connection,
    findSession: () => McpSession | null,
  ) {
    this.entry = entry;
    this.clock = clock;
    this.connection = connection;
    this.findSession = findSession;
  }

  /** Tells the server to cancel a task, if the server is running. Never rejects. */
  async cancel(task: McpTask): Promise<void> {
    await this.findSession()?.cancelTask(task);
  }

  /** Throws an McpServerError if no more tasks of the server can be followed. */
  requireRoom(): void {
    if (this.count < MAX_TASKS) return;
    const message = `it already carries out ${MAX_TASKS} calls as tasks, and Muster follows no more of one server: wait for one of them or stop one`;
    throw new McpServerError(message, { server: serverId(this.entry), kind: 'refused' });
  }

  /** See `McpServer.followTask`. */
  async follow(
    task: McpTask,
    { signal, onStatus, callId }: ConnectionUse & Pick<TaskObserver, 'onStatus'>,
  ): Promise<McpCallResult> {
    this.count += 1;
    const startedAt = this.clock.monotonic();
    let lost = 0;
    try {
      for (;;) {
        const pastMs = this.clock.monotonic() - startedAt;
        const maxMs = Math.max(0, this.entry.limits.taskMs - pastMs);
        try {
          return await this.connection.use({ signal, callId, maxMs }, (session, request) =>
            session.followTask(task, {
              signal: request.signal,
              onStatus,
              onAnswer: () => {
                lost = 0;
                request.touch();
              },
            }),
          );
        } catch (thrown) {
          lost += 1;
          if (!(thrown instanceof McpServerError) || signal.aborted) throw thrown;
          // Nobody waits for the task any more.
          if (GIVES_UP_TASK.has(thrown.kind)) await this.cancel(task);
          if (thrown.kind !== 'lost' || lost > MAX_LOST) throw thrown;
          onStatus('reconnecting', thrown.message);
        }
      }
    } finally {
      this.count -= 1;
    }
  }
}
