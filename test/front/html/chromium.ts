import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '../../needs.ts';

/** What a page did when it was opened. */
export interface Opened {
  /** Addresses asked for, the page's own among them. */
  readonly requests: readonly string[];
  /** Exceptions, and what the console and the browser's log had to say. */
  readonly complaints: readonly string[];
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** A key as a person presses it. */
  press(key: string, code: number): Promise<void>;
}

export const HAS_CHROMIUM = needs('chromium', 'chromium');

interface Message {
  readonly id?: number;
  readonly method?: string;
  /** Of which page. */
  readonly sessionId?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** Headless, with a profile of its own; all of it is gone when it is disposed of. */
export class Chromium implements AsyncDisposable {
  private readonly profile = mkdtempSync(join(tmpdir(), 'muster-chromium-'));
  private readonly process: ChildProcess;
  private socket: WebSocket | null = null;
  private lastId = 0;
  private readonly waiting = new Map<number, (message: Message) => void>();
  private readonly listeners = new Set<(message: Message) => void>();

  constructor() {
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0'];
    // A group of its own: its helpers are ended with it.
    this.process = spawn('chromium', [...flags, `--user-data-dir=${this.profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: this.profile },
      detached: true,
    });
  }

  async open(url: string): Promise<Opened> {
    if (this.socket === null) await this.connect();
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const attached = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const session = String(attached['sessionId']);
    const requests: string[] = [];
    const complaints: string[] = [];
    const loaded = Promise.withResolvers<void>();
    this.listeners.add(({ method, params = {}, sessionId }) => {
      if (sessionId !== session) return;
      if (method === 'Network.requestWillBeSent') requests.push(requestUrl(params));
      if (method === 'Page.loadEventFired') loaded.resolve();
      if (COMPLAINTS.has(method ?? '')) complaints.push(JSON.stringify(params));
    });
    for (const domain of ['Network', 'Runtime', 'Log', 'Page', 'Audits']) {
      await this.send(`${domain}.enable`, {}, session);
    }
    await this.send('Page.navigate', { url }, session);
    await loaded.promise;
    return {
      requests,
      complaints,
      evaluate: async (expression) => {
        const { result } = await this.send(
          'Runtime.evaluate',
          { expression, awaitPromise: true },
          session,
        );
        return isRecord(result) ? result['value'] : undefined;
      },
      press: async (key, code) => {
        const stroke = { key, code: key, windowsVirtualKeyCode: code };
        await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...stroke }, session);
        await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...stroke }, session);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid, exitCode } = this.process;
    if (pid !== undefined && exitCode === null) {
      const exited = new Promise((resolve) => this.process.once('exit', resolve));
      // Asked to, it ends its helpers itself; the group is killed where it doesn't.
      const killer = setTimeout(() => process.kill(-pid, 'SIGKILL'), this.socket ? 5_000 : 0);
      this.socket?.send(JSON.stringify({ id: 0, method: 'Browser.close' }));
      await exited;
      clearTimeout(killer);
    }
    this.socket?.close();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  private async connect(): Promise<void> {
    const socket = new WebSocket(await this.address());
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    socket.addEventListener('message', ({ data }) => {
      const message: Message = JSON.parse(String(data));
      if (message.id === undefined) for (const listener of this.listeners) listener(message);
      else this.waiting.get(message.id)?.(message);
    });
    this.socket = socket;
  }

  /** It says where it listens on stderr, among other things. */
  private address(): Promise<string> {
    return new Promise((resolve, reject) => {
      let said = '';
      this.process.stderr?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const found = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
        if (found !== undefined) resolve(found);
      });
      this.process.once('exit', (code) =>
        reject(new Error(`chromium ended with ${code}: ${said}`)),
      );
      this.process.once('error', reject);
    });
  }

  private send(
    method: string,
    params: Record<string, unknown>,
    sessionId?: string,
  ): Promise<Record<string, unknown>> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ result = {}, error }) => {
        this.waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      });
      const to = sessionId === undefined ? {} : { sessionId };
      this.socket?.send(JSON.stringify({ id, method, params, ...to }));
    });
  }
}

const COMPLAINTS: ReadonlySet<string> = new Set([
  'Runtime.exceptionThrown',
  'Runtime.consoleAPICalled',
  'Log.entryAdded',
  'Audits.issueAdded',
]);

function requestUrl({ request }: Record<string, unknown>): string {
  return isRecord(request) ? String(request['url']) : '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
