import {
  RequestError,
  client,
  methods,
  ndJsonStream,
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  type InitializeResponse,
  type NewSessionResponse,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { BIN } from './muster.ts';
import type { World } from './world.ts';

type Choose = (request: RequestPermissionRequest) => string | 'cancelled' | 'never';

export interface AcpClientOptions {
  readonly args?: readonly string[];
  readonly capabilities?: ClientCapabilities;
  /** Returns the id of the option to choose. Default: the first one. */
  readonly choose?: Choose;
  /** The texts that the editor has for its files, by path. They change when Muster changes them. */
  readonly files?: Map<string, string>;
  /** Saves a text that Muster gave. Default: it is written as it is. */
  readonly save?: (path: string, text: string) => void;
  readonly elicit?: (request: CreateElicitationRequest) => CreateElicitationResponse;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A client of the SDK, connected with the built program. It records every message in both directions. */
export class AcpClient {
  readonly child: ChildProcess;
  readonly agent: ClientContext;
  readonly initialized: InitializeResponse;
  readonly wire: readonly { readonly from: 'client' | 'agent'; readonly message: AnyMessage }[];
  readonly notifications: readonly SessionNotification[];
  readonly permissions: readonly RequestPermissionRequest[];
  readonly #stderr: () => string;

  private constructor(
    parts: Pick<
      AcpClient,
      'child' | 'agent' | 'initialized' | 'wire' | 'notifications' | 'permissions'
    > & { readonly stderr: () => string },
  ) {
    this.child = parts.child;
    this.agent = parts.agent;
    this.initialized = parts.initialized;
    this.wire = parts.wire;
    this.notifications = parts.notifications;
    this.permissions = parts.permissions;
    this.#stderr = parts.stderr;
  }

  static async start(world: World, options: AcpClientOptions = {}): Promise<AcpClient> {
    const child = spawn(process.execPath, [BIN, 'acp', ...(options.args ?? [])], {
      cwd: world.sandbox.workspace,
      env: world.sandbox.environment({ ...world.model.env('anthropic'), ...options.environment }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const wire: { from: 'client' | 'agent'; message: AnyMessage }[] = [];
    const notifications: SessionNotification[] = [];
    const permissions: RequestPermissionRequest[] = [];
    const raw = ndJsonStream(
      Writable.toWeb(child.stdin),
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    );
    const record = (from: 'client' | 'agent') =>
      new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, controller) => {
          wire.push({ from, message });
          controller.enqueue(message);
        },
      });
    const outgoing = record('client');
    void outgoing.readable.pipeTo(raw.writable).catch(() => {});
    const connection = client({ name: 'test' })
      .onNotification(methods.client.session.update, ({ params }) => {
        notifications.push(params);
      })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        permissions.push(params);
        const chosen = options.choose?.(params) ?? params.options[0]?.optionId ?? '';
        if (chosen === 'never') await once(signal, 'abort');
        return chosen === 'cancelled' || chosen === 'never'
          ? { outcome: { outcome: 'cancelled' } }
          : { outcome: { outcome: 'selected', optionId: chosen } };
      })
      .onRequest(methods.client.fs.readTextFile, ({ params }) => {
        const content = options.files?.get(params.path);
        if (content === undefined) throw RequestError.resourceNotFound(params.path);
        return { content };
      })
      .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
        options.files?.set(path, content);
        if (options.save === undefined) writeFileSync(path, content);
        else options.save(path, content);
        return {};
      })
      .onRequest(
        methods.client.elicitation.create,
        ({ params }) => options.elicit?.(params) ?? { action: 'cancel' },
      )
      .connect({
        writable: outgoing.writable,
        readable: raw.readable.pipeThrough(record('agent')),
      });
    const initialized = await connection.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: {
        ...options.capabilities,
        ...(options.files === undefined ? {} : { fs: { readTextFile: true, writeTextFile: true } }),
      },
      clientInfo: { name: 'test', version: '1' },
    });
    return new AcpClient({
      child,
      agent: connection.agent,
      initialized,
      wire,
      notifications,
      permissions,
      stderr: () => stderr,
    });
  }

  get stderr(): string {
    return this.#stderr();
  }

  async newSession(world: World): Promise<NewSessionResponse> {
    return await this.agent.request(methods.agent.session.new, {
      cwd: world.sandbox.workspace,
      mcpServers: [],
    });
  }

  async prompt(sessionId: string, prompt: string | ContentBlock[]) {
    const blocks = typeof prompt === 'string' ? [{ type: 'text' as const, text: prompt }] : prompt;
    return await this.agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks });
  }

  async cancel(sessionId: string): Promise<void> {
    await this.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** Returns the updates of a session of these kinds. */
  updates<Kind extends SessionUpdate['sessionUpdate']>(
    sessionId: string,
    ...kinds: readonly Kind[]
  ): readonly Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.notifications
      .filter((each) => each.sessionId === sessionId)
      .map(({ update }) => update)
      .filter((update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> =>
        kinds.some((kind) => kind === update.sessionUpdate),
      );
  }

  /** Returns the text of the answers in a session. */
  text(sessionId: string): string {
    return this.updates(sessionId, 'agent_message_chunk')
      .map(({ content }) => (content.type === 'text' ? content.text : ''))
      .join('');
  }

  /** Closes the input of the program, and resolves to its exit code. */
  async close(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.stdin?.end();
      await once(this.child, 'exit');
    }
    return this.child.exitCode;
  }
}
