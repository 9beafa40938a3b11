import { onAbort, rejectOnAbort } from '../../base/async.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import { formatDuration } from '../../base/text.ts';
import {
  modelName,
  type ModelFailure,
  type ModelPart,
  type ModelRequest,
} from '../../protocol/model.ts';
import type { A2aServer, RemoteTask } from '../../protocol/remote-agent.ts';
import type { HttpFetch } from '../../sys/http/http-types.ts';
import { createWebFetch } from '../../sys/http/web-fetch.ts';
import type { RemoteAgentPort } from '../remote-agent-port.ts';
import { chooseEndpoint, fetchCard, type A2aEndpoint } from './agent-card.ts';
import { cancelWork, requestUpdates } from './request-updates.ts';
import { createGuardedFetch, openConnection, type A2aConnection } from './connect.ts';
import { readAuthHeaders, type CredentialSources } from './credentials.ts';
import { A2aError, formatServerText, toA2aFailure } from './failure.ts';
import { A2A_LIMITS, watchSilence, withTimeLimit, type A2aLimits } from './limits.ts';
import { RemoteAnswer } from './remote-answer.ts';

/** The dependencies of the port to servers of the Agent2Agent protocol. */
export interface A2aPortDeps extends CredentialSources {
  readonly fetch: HttpFetch;
  readonly deadlines: Deadlines;
  /** The origins that the cards of other servers may name, such as `https://agents.example`. */
  readonly allowedOrigins: readonly string[];
  /** Default: those of docs/remote-agents.md. */
  readonly limits?: Partial<A2aLimits>;
}

/** Creates the port to agents that servers of the Agent2Agent protocol offer. */
export function createA2aPort(deps: A2aPortDeps): RemoteAgentPort {
  const sender = new A2aSender(deps);
  const settle = (): Promise<void> => sender.waitForCancels();
  return {
    stream: (request, signal) => sender.stream(request, signal),
    endTask: settle,
    close: settle,
  };
}

/** A task whose server is known. */
type ServerTask = RemoteTask & { readonly agent: A2aServer };

class A2aSender {
  private readonly deps: A2aPortDeps;
  private readonly limits: A2aLimits;
  /** The endpoints that were read from cards, by the text of the definition. After a failure, a card is read again. */
  private readonly endpoints = new Map<string, Promise<A2aEndpoint>>();
  private readonly cancels = new Set<Promise<void>>();

  constructor(deps: A2aPortDeps) {
    this.deps = deps;
    this.limits = { ...A2A_LIMITS, ...deps.limits };
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart, void> {
    const name = modelName(request.model);
    const task = request.remote;
    const fail = (failure: ModelFailure): ModelPart => ({ type: 'failed', failure });
    if (task?.agent?.protocol !== 'a2a') {
      const message = `${name}: no definition names its server any more; add it again, or ask another agent`;
      yield fail({ kind: 'not_found', message, retryable: false });
      return;
    }
    const { agent } = task;
    const { deadlines } = this.deps;
    const controller = new AbortController();
    const release = onAbort(signal, () => controller.abort(signal.reason));
    const watch = watchSilence(deadlines, this.limits.silentMs, controller);
    const answer = new RemoteAnswer(this.limits);
    let connection: A2aConnection | null = null;
    try {
      const connecting = this.connect({ ...task, agent });
      connection = await rejectOnAbort(connecting, controller.signal);
      const exchange = { connection, answer, task, signal: controller.signal, deadlines };
      let isAccepted = false;
      for await (const update of requestUpdates(exchange, request.messages, this.limits.pollMs)) {
        if (!isAccepted) yield { type: 'accepted' };
        isAccepted = true;
        const { isNews, deltas } = answer.take(update);
        if (isNews) watch.extend();
        yield* deltas;
        if (answer.isComplete) break;
      }
      yield answer.finish(name);
    } catch (thrown) {
      this.endpoints.delete(JSON.stringify(agent));
      const status = connection?.status() ?? null;
      yield fail(
        signal.aborted
          ? { kind: 'cancelled', message: `${name}: stopped`, retryable: false }
          : toA2aFailure(name, controller.signal.reason ?? thrown, status),
      );
    } finally {
      watch.stop();
      release();
      if (connection !== null && !answer.isComplete) this.cancel(connection, answer.taskId);
    }
  }

  /** Waits until servers know which tasks are not wanted any more, or until the time for that is over. */
  async waitForCancels(): Promise<void> {
    await Promise.all(this.cancels);
  }

  private cancel(connection: A2aConnection, id: string): void {
    const cancelled = cancelWork(connection, id, [this.deps.deadlines, this.limits.cancelMs]);
    this.cancels.add(cancelled);
    void cancelled.finally(() => this.cancels.delete(cancelled));
  }

  private async connect(task: ServerTask): Promise<A2aConnection> {
    const fetch = createWebFetch(this.deps.fetch, this.limits.maxMessageBytes);
    const key = JSON.stringify(task.agent);
    const reading = this.endpoints.get(key) ?? this.readEndpoint(task);
    this.endpoints.set(key, reading);
    const endpoint = await reading;
    return await openConnection(
      endpoint,
      createGuardedFetch(fetch, endpoint.url, this.login(task)),
    );
  }

  private login({ agent, isForeign }: ServerTask): () => ReturnType<typeof readAuthHeaders> {
    return () => readAuthHeaders(agent, isForeign, this.deps);
  }

  private async readEndpoint(task: ServerTask): Promise<A2aEndpoint> {
    const { card } = task.agent;
    if (typeof card !== 'string') return chooseEndpoint(card, null, []);
    const url = URL.parse(card);
    if (url === null) throw new A2aError('bad_request', `${formatServerText(card)} is not a URL`);
    const { deadlines, allowedOrigins } = this.deps;
    const { cardMs, maxMessageBytes } = this.limits;
    const fetch = createWebFetch(this.deps.fetch, maxMessageBytes);
    const ways = [
      createGuardedFetch(fetch, url, () => Promise.resolve({})),
      createGuardedFetch(fetch, url, this.login(task)),
    ] as const;
    const text = `the agent card did not arrive within ${formatDuration(cardMs)} (the limit for cards)`;
    const found = await withTimeLimit(deadlines, [cardMs, text], (limited) =>
      fetchCard(url, ways, limited),
    );
    return chooseEndpoint(found, url, allowedOrigins);
  }
}
