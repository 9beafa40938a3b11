import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import {
  openControlServer,
  type ControlServer,
  type ControlServerOptions,
} from '../../src/control/server.ts';

/** A directory that others may enter, as a home directory often is; removed when the test ends. */
export function place(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-ctl-')));
  chmodSync(root, 0o755);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** Where a socket of a process may lie; its directory is not made yet. */
export function socketPath(root: string = place()): string {
  return join(root, 'sockets', `${newId()}.sock`);
}

type ServerOptions = Partial<ControlServerOptions>;

/** A server that says what it was asked, unless told otherwise; closed when the test ends. */
export async function listen(options: ServerOptions = {}): Promise<ControlServer> {
  const server = await openControlServer({
    path: options.path ?? socketPath(),
    handle: async (request) => ({ ok: true, text: request.op, data: { ...request } }),
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

/** Sends bytes as they are and returns all that comes back until the server ends the connection. */
export async function sendRaw(path: string, ...chunks: (string | Buffer)[]): Promise<string> {
  const socket = connect({ path });
  socket.on('error', () => {
    // Where the server cut it off, what came back before is what counts.
  });
  for (const chunk of chunks) socket.write(chunk);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'close');
  return answer;
}

/** The one line of an answer, as data. */
export function replyIn(answer: string): unknown {
  const value: unknown = JSON.parse(answer.slice(0, answer.indexOf('\n')));
  return value;
}

export interface RunningProgram {
  readonly pid: number;
  /** Everything on stdout up to and with this word. */
  says(word: string): Promise<string>;
  /** Exit code or signal, and all of stdout and stderr. */
  readonly ended: Promise<{ end: number | string; output: string }>;
  kill(signal: NodeJS.Signals): void;
}

/** Runs a module in a process of its own; `src` in it becomes the address of a file of ours. */
export function runModule(
  code: string,
  identity: { uid?: number; gid?: number } = {},
): RunningProgram {
  const address = pathToFileURL(join(import.meta.dirname, '../../src/')).href;
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', code.replaceAll('src/', address)],
    { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/', ...identity },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]).then(
    ([[code_, signal], errors]) => ({ end: signal ?? code_, output: said + errors }),
  );
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => void child.kill(signal),
    says: async (word) => {
      while (!said.includes(word)) {
        const more = await Promise.race([once(child.stdout, 'data'), ended]);
        if (!Array.isArray(more)) throw new Error(`ended without "${word}": ${more.output}`);
      }
      return said;
    },
  };
}
