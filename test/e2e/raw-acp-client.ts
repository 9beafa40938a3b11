import { spawn, type ChildProcess } from 'node:child_process';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { BIN } from './muster.ts';
import type { World } from './world.ts';

export interface RawAcpClientOptions {
  readonly args?: readonly string[];
  readonly capabilities?: object;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A client that writes the lines that a test gives it, whatever they are, and keeps those that Muster writes. */
export class RawAcpClient {
  readonly child: ChildProcess;
  /** The messages of Muster so far. */
  readonly messages: JsonObject[] = [];
  /** What Muster has printed on stderr. */
  stderr = '';
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  #rest = '';
  #requests = 0;

  constructor(world: World, { args = [], environment = {} }: RawAcpClientOptions = {}) {
    const child = spawn(process.execPath, [BIN, 'acp', ...args], {
      cwd: world.sandbox.workspace,
      env: world.sandbox.environment({ ...world.model.env('anthropic'), ...environment }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    // Muster may end while something is still written to it.
    child.stdin.on('error', () => {});
    this.ended = new Promise((resolve) =>
      child.once('close', (code, signal) => resolve({ code, signal })),
    );
  }

  /** Writes a text as it is. */
  write(text: string): void {
    this.child.stdin?.write(text);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Sends a request. Resolves to the message that answers it. */
  async request(method: string, params: object): Promise<JsonObject> {
    const id = `request-${(this.#requests += 1)}`;
    this.send({ id, method, params });
    return await this.find((message) => message['id'] === id && !('method' in message));
  }

  /** Waits for the first message that matches. */
  async find(matches: (message: JsonObject) => boolean): Promise<JsonObject> {
    let found: JsonObject | undefined;
    await waitUntilPasses(() => {
      found = this.messages.find(matches);
      if (found === undefined) throw new Error(`no such message yet. stderr: ${this.stderr}`);
    });
    return found ?? {};
  }

  /** Waits for the first request with a method, and resolves to its id. */
  async findRequest(method: string): Promise<string | number> {
    const { id } = await this.find((message) => message['method'] === method && 'id' in message);
    if (typeof id !== 'string' && typeof id !== 'number') throw new Error('the id is no id');
    return id;
  }

  /** Initializes, and starts a conversation. Resolves to its id. */
  async begin({ sandbox }: World, capabilities: object = {}): Promise<string> {
    await this.request('initialize', { protocolVersion: 1, clientCapabilities: capabilities });
    const params = { cwd: sandbox.workspace, mcpServers: [] };
    const { result } = await this.request('session/new', params);
    if (!isJsonObject(result) || typeof result['sessionId'] !== 'string')
      throw new Error(`no conversation: ${JSON.stringify(this.messages)}`);
    return result['sessionId'];
  }

  prompt(sessionId: string, text: string): Promise<JsonObject> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** Closes all pipes without a word, as the end of a client that was killed does. */
  vanish(): void {
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr])
      stream?.destroy();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.messages.push(JSON.parse(line));
  }
}
