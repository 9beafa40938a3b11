import {
  MessageTooLargeError,
  RequestError,
  agent,
  methods,
  ndJsonStream,
  type AgentContext,
  type McpServer,
  type NewSessionResponse,
} from '@agentclientprotocol/sdk/unstable';
import { isAbsolute } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { loadStoredTasks, type Session, type SessionOptions } from '../../api/index.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError, UsageError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { AcpSession, type AcpSessionOptions } from './acp-session.ts';
import { createClientEditor } from './client-editor.ts';
import { readClientFeatures, type ClientFeatures } from './client-features.ts';
import { toServerTables } from './client-servers.ts';
import { describeModes, findMode, listConfigOptions, setConfigOption } from './config-options.ts';
import { checkConversation, listConversations } from './conversations.ts';
import { CONFIGURED_METHOD, NO_MODEL, OFFLINE_METHOD, describeAgent } from './describe-agent.ts';
import { translateErrors } from './translate-errors.ts';
import { MAX_WAITING_MB } from './update-sender.ts';

/** The settings of a session that come from the client. */
export interface OpenSessionRequest {
  /** Absolute. */
  readonly cwd: string;
  /** Absolute. */
  readonly addDirs: readonly string[];
  /** The tables `[mcp.NAME]` of the servers of the client. */
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The editor that has files open. Default: there is none. */
  readonly editor?: SessionOptions['editor'];
  /** Called with one line for each problem that does not stop the work. */
  readonly onNotice: (line: string) => void;
}

export interface ServeAcpOptions {
  readonly input: Readable;
  /** The only stream on which the protocol is written. */
  readonly output: Writable;
  /** Opens a session. Rejects with UsageError for a wrong directory or configuration. */
  readonly openSession: (request: OpenSessionRequest) => Promise<Session>;
  /** The data directory; null for the user's own. */
  readonly dataDir: string | null;
  /** Called with one line for each message that could not be used. */
  readonly onNotice: (line: string) => void;
  /** Ends the server when it aborts. */
  readonly signal: AbortSignal;
}

/** The maximum size of one message of a client, such as a prompt with images, in MB. */
const MAX_MESSAGE_MB = 32;
const CONTINUE = 'the conversations are stopped and can be continued';

/**
 * Serves an ACP client until it closes its end. All tasks that it has started are then stopped, and can be continued. Rejects with
 * MusterError `LIMIT_EXCEEDED` after a message that is too large, because the messages behind it cannot be found, and if a client does
 * not read.
 */
export async function serveAcp(options: ServeAcpOptions): Promise<void> {
  const { input, output, signal } = options;
  let overflow: MusterError | null = null;
  const server = new AcpServer(options, () => {
    overflow = new MusterError(
      'LIMIT_EXCEEDED',
      `the editor does not read: more than ${MAX_WAITING_MB} MB wait for it, which is the maximum; ${CONTINUE}`,
    );
    connection.close();
  });
  const stream = ndJsonStream(
    Writable.toWeb(output),
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_MB * 1024 * 1024 },
  );
  const connection = server.app().connect(stream);
  const end = (): void => connection.close();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  await connection.closed;
  signal.removeEventListener('abort', end);
  await server.close();
  if (overflow !== null) throw overflow;
  if (connection.signal.reason instanceof MessageTooLargeError)
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `a message of the editor has more than ${MAX_MESSAGE_MB} MB, which is the maximum; ${CONTINUE}`,
    );
}

/** The sessions of one client. */
class AcpServer {
  readonly #options: ServeAcpOptions;
  readonly #onOverflow: () => void;
  readonly #sessions = new Map<string, AcpSession>();
  #features: ClientFeatures = readClientFeatures(undefined);
  /** True if the client has chosen to work without a model. */
  #isOfflineAllowed = false;

  /** @param onOverflow called when too many updates wait for a client that does not read */
  constructor(options: ServeAcpOptions, onOverflow: () => void) {
    this.#options = options;
    this.#onOverflow = onOverflow;
  }

  app() {
    const { session } = methods.agent;
    return agent({ name: 'muster' })
      .onRequest(methods.agent.initialize, ({ params }) => {
        this.#features = readClientFeatures(params.clientCapabilities);
        return describeAgent(this.#features);
      })
      .onRequest(methods.agent.authenticate, ({ params }) =>
        translateErrors(() => this.#authenticate(params.methodId)),
      )
      .onRequest(session.new, ({ params, client }) =>
        translateErrors(() => this.#new(params, client)),
      )
      .onRequest(session.load, ({ params, client }) =>
        translateErrors(async () => {
          const acp = await this.#reopen(params.sessionId, params, client);
          await acp.replay();
          return this.#describe(acp);
        }),
      )
      .onRequest(session.resume, ({ params, client }) =>
        translateErrors(async () => {
          const acp = await this.#reopen(params.sessionId, params, client);
          await acp.recall();
          return this.#describe(acp);
        }),
      )
      .onRequest(session.fork, ({ params, client }) =>
        translateErrors(async () => await this.#fork(params.sessionId, params, client)),
      )
      .onRequest(session.list, ({ params }) =>
        translateErrors(async () => listConversations((await this.#openTasks()).list(), params)),
      )
      .onRequest(session.delete, ({ params }) =>
        translateErrors(async () => {
          await this.#close(params.sessionId);
          const tasks = await this.#openTasks();
          // A task is also found by the beginning of its id, which must not delete it here.
          const isStored = tasks
            .list()
            .some(({ id, parent }) => parent === null && id === params.sessionId);
          if (!isStored) throw RequestError.sessionNotFound(params.sessionId);
          await tasks.delete([params.sessionId]);
          return {};
        }),
      )
      .onRequest(session.close, ({ params }) =>
        translateErrors(async () => {
          this.#find(params.sessionId);
          await this.#close(params.sessionId);
          return {};
        }),
      )
      .onRequest(session.setMode, ({ params }) =>
        translateErrors(() => {
          this.#find(params.sessionId).setMode(findMode(params.modeId));
          return {};
        }),
      )
      .onRequest(session.setConfigOption, ({ params }) =>
        translateErrors(async () => {
          const acp = this.#find(params.sessionId);
          await setConfigOption(acp, params.configId, params.value);
          return { configOptions: await listConfigOptions(acp) };
        }),
      )
      .onRequest(session.prompt, ({ params }) =>
        translateErrors(async () => await this.#find(params.sessionId).prompt(params)),
      )
      .onNotification(session.cancel, async ({ params }) => {
        await this.#cancel(params.sessionId);
      });
  }

  /** Stops the tasks of all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#close(id)));
  }

  async #authenticate(methodId: string): Promise<object> {
    if (methodId === OFFLINE_METHOD) {
      this.#isOfflineAllowed = true;
      return {};
    }
    if (methodId !== CONFIGURED_METHOD)
      throw new UsageError(
        `no authentication method ${JSON.stringify(methodId)}: choose ${CONFIGURED_METHOD} or ${OFFLINE_METHOD}`,
      );
    const session = await this.#open({ cwd: process.cwd() }, { onNotice: this.#options.onNotice });
    await session.close();
    return {};
  }

  /** Opens a session in a directory. Rejects with the error `auth_required` if no model is configured. */
  async #open(
    { cwd, additionalDirectories = [], mcpServers = [] }: SessionPlace,
    { editor, onNotice }: Pick<OpenSessionRequest, 'editor' | 'onNotice'>,
  ): Promise<Session> {
    for (const path of [cwd, ...additionalDirectories]) {
      if (!isAbsolute(path))
        throw new UsageError(`the path ${JSON.stringify(path)} is not absolute`);
    }
    const session = await this.#options.openSession({
      cwd,
      addDirs: additionalDirectories,
      servers: toServerTables(mcpServers),
      onNotice,
      ...dropMissing({ editor }),
    });
    if (!session.offlineByDefault || this.#isOfflineAllowed) return session;
    await session.close();
    throw RequestError.authRequired(undefined, NO_MODEL);
  }

  /** Opens a session for a conversation of the client. `check` rejects a conversation that it cannot have. */
  async #add(
    place: SessionPlace,
    client: AgentContext,
    conversation: Pick<AcpSessionOptions, 'id' | 'hasBegun' | 'forkOf'>,
    check: (session: Session) => void = () => {},
  ): Promise<AcpSession> {
    const features = this.#features;
    const { id: sessionId } = conversation;
    // The client learns of the session with the answer to its request, and can be told nothing before.
    const early: string[] = [];
    const onNotice = (line: string): void => {
      this.#options.onNotice(line);
      const acp = this.#sessions.get(sessionId);
      if (acp === undefined) early.push(line);
      else acp.notice(line);
    };
    const roots = [place.cwd, ...(place.additionalDirectories ?? [])];
    const editor = createClientEditor({ client, features, sessionId, roots });
    const session = await this.#open(place, { onNotice, ...dropMissing({ editor }) });
    try {
      check(session);
      const acp = new AcpSession({
        session,
        client,
        features,
        onOverflow: this.#onOverflow,
        ...conversation,
      });
      this.#sessions.set(acp.id, acp);
      setImmediate(() => {
        for (const line of early) acp.notice(line);
      });
      return acp;
    } catch (thrown) {
      await session.close();
      throw thrown;
    }
  }

  async #new(place: SessionPlace, client: AgentContext): Promise<NewSessionResponse> {
    const acp = await this.#add(place, client, { id: newId(), hasBegun: false });
    return { sessionId: acp.id, ...(await this.#describe(acp)) };
  }

  async #reopen(id: string, place: SessionPlace, client: AgentContext): Promise<AcpSession> {
    await this.#close(id);
    return await this.#add(place, client, { id, hasBegun: true }, (session) =>
      checkConversation(session, id),
    );
  }

  async #fork(id: string, place: SessionPlace, client: AgentContext): Promise<NewSessionResponse> {
    const at = await this.#findEnd(id);
    const fork = { id: newId(), hasBegun: false, forkOf: { id, at } };
    const acp = await this.#add(place, client, fork, (session) => checkConversation(session, id));
    await acp.recall();
    return { sessionId: acp.id, ...(await this.#describe(acp)) };
  }

  /** Returns the number of the newest event of a conversation. */
  async #findEnd(id: string): Promise<number> {
    const tasks = await this.#openTasks();
    return tasks.state(id).lastSeq;
  }

  /** Describes the modes and options of a session. Its slash commands follow once the client knows the session. */
  async #describe(acp: AcpSession) {
    const availableCommands = acp.session.slashCommands.map(
      ({ name, description, argumentHint }) => ({
        name,
        description,
        ...(argumentHint === undefined ? {} : { input: { hint: argumentHint } }),
      }),
    );
    setImmediate(() =>
      acp.announce({ sessionUpdate: 'available_commands_update', availableCommands }),
    );
    return { modes: describeModes(acp), configOptions: await listConfigOptions(acp) };
  }

  async #openTasks() {
    const { openTasks } = await loadStoredTasks();
    const { dataDir, onNotice } = this.#options;
    return await openTasks({ onNotice, ...(dataDir === null ? {} : { dataDir }) });
  }

  async #cancel(id: string): Promise<void> {
    const acp = this.#sessions.get(id);
    if (acp !== undefined) {
      acp.cancel();
      return;
    }
    const owner = [...this.#sessions.values()].find((each) => each.hasTask(id));
    await owner?.cancelTask(id);
  }

  #find(id: string): AcpSession {
    const acp = this.#sessions.get(id);
    if (acp === undefined) throw RequestError.sessionNotFound(id);
    return acp;
  }

  async #close(id: string): Promise<void> {
    const acp = this.#sessions.get(id);
    this.#sessions.delete(id);
    await acp?.close();
  }
}

/** The fields of requests that name the place of a session. */
interface SessionPlace {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
}
