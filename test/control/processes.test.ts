import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sendControlRequest } from '../../src/control/client.ts';
import { controlSocketPath } from '../../src/control/path.ts';
import { listen, place, runModule, socketPath, type RunningProgram } from './support.ts';

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65_534;
const timeoutMs = 20_000;

/** A process that listens and stays until it is ended. */
function server(path: string, options: { umask?: number } = {}): RunningProgram {
  const { umask = 0o022 } = options;
  return runModule(`
    import { openControlServer } from 'src/control/server.ts';
    process.umask(${umask});
    const stay = setInterval(() => {}, 1000);
    try {
      await openControlServer({
        path: ${JSON.stringify(path)},
        handle: async ({ task }) => ({ ok: true, text: task + ' ' + process.pid }),
      });
      console.log('listening');
    } catch (error) {
      console.log('refused', error.code);
      clearInterval(stay);
    }
  `);
}

function modes(path: string): string[] {
  return [path, dirname(path)].map((name) => (statSync(name).mode & 0o777).toString(8));
}

async function ask(path: string): Promise<unknown> {
  return sendControlRequest(path, { op: 'stop', task: 'abc' }, { timeoutMs });
}

describe('real processes', () => {
  test.each([0, 0o022, 0o077, 0o777])('the umask (%i) has no effect', async (umask) => {
    const path = socketPath();
    const running = server(path, { umask });
    await running.says('listening');
    expect(modes(path)).toEqual(['600', '700']);
    expect(await ask(path)).toEqual({ ok: true, text: `abc ${running.pid}` });
  });

  test('a killed process is recognized, and its path can be used again', async () => {
    const path = socketPath();
    const first = server(path);
    await first.says('listening');
    first.kill('SIGKILL');
    await first.ended;
    await expect(ask(path)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const second = server(path);
    await second.says('listening');
    expect(await ask(path)).toEqual({ ok: true, text: `abc ${second.pid}` });
  });

  test('of several processes that race for the path of a dead one, exactly one gets and keeps it', async () => {
    const path = socketPath();
    const dead = server(path);
    await dead.says('listening');
    dead.kill('SIGKILL');
    await dead.ended;
    const rivals = [server(path), server(path), server(path)];
    const said = await Promise.all(rivals.map((rival) => rival.says('\n')));
    expect(said.toSorted()).toEqual(['listening\n', 'refused CONFLICT\n', 'refused CONFLICT\n']);
    const winner = rivals[said.indexOf('listening\n')];
    expect(await ask(path)).toEqual({ ok: true, text: `abc ${winner?.pid}` });
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test('a suspended process answers when it continues', async () => {
    const path = socketPath();
    const running = server(path);
    await running.says('listening');
    running.kill('SIGSTOP');
    const call = sendControlRequest(path, { op: 'stop', task: 'abc' }, { timeoutMs: 200 });
    await expect(call).rejects.toMatchObject({ code: 'TIMEOUT' });
    await expect(listen({ path })).rejects.toMatchObject({ code: 'CONFLICT' });
    running.kill('SIGCONT');
    expect(await ask(path)).toEqual({ ok: true, text: `abc ${running.pid}` });
  });

  test('neither the socket nor a client that stays keeps a process alive', async () => {
    const path = socketPath();
    const running = runModule(`
      import { connect } from 'node:net';
      import { openControlServer } from 'src/control/server.ts';
      await openControlServer({ path: ${JSON.stringify(path)}, handle: async () => ({ ok: true, text: '' }) });
      const client = connect(${JSON.stringify(path)});
      client.once('connect', () => client.unref());
      client.write('{"v":1,');
    `);
    expect(await running.ended).toEqual({ end: 0, output: '' });
  });

  test('closing is awaited even when nothing else is left to do', async () => {
    const path = socketPath();
    const running = runModule(`
      import { openControlServer } from 'src/control/server.ts';
      const server = await openControlServer({
        path: ${JSON.stringify(path)},
        handle: () => new Promise(() => {}),
      });
      await server.close();
      console.log('closed');
    `);
    expect(await running.ended).toEqual({ end: 0, output: 'closed\n' });
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test('with a long data directory both sides agree on the path, whatever TMPDIR says', async () => {
    const dataDir = join(place(), 'd'.repeat(100));
    const path = controlSocketPath({ dataDir, token: 'abcdefghij12' });
    onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
    const running = runModule(`
      process.env.TMPDIR = '/nowhere';
      import { controlSocketPath } from 'src/control/path.ts';
      import { openControlServer } from 'src/control/server.ts';
      await openControlServer({
        path: controlSocketPath({ dataDir: ${JSON.stringify(dataDir)}, token: 'abcdefghij12' }),
        handle: async () => ({ ok: true, text: 'here' }),
      });
      console.log('listening');
      setInterval(() => {}, 1000);
    `);
    await running.says('listening');
    expect(await ask(path)).toEqual({ ok: true, text: 'here' });
    expect(modes(path)).toEqual(['600', '700']);
  });
});

describe.runIf(isRoot)('another user', () => {
  const nobody = { uid: NOBODY, gid: NOBODY };

  test('cannot connect, even if the directory was opened to everyone', async () => {
    const { path } = await listen();
    const attempt = `
      import { connect } from 'node:net';
      connect(${JSON.stringify(path)})
        .on('connect', () => console.log('in'))
        .on('error', (error) => console.log(error.code));
    `;
    const refused = { end: 0, output: 'EACCES\n' };
    expect(await runModule(attempt, nobody).ended).toEqual(refused);
    chmodSync(dirname(path), 0o755);
    expect(await runModule(attempt, nobody).ended).toEqual(refused);
  });

  test('cannot set a trap by creating the directory first: nobody listens there or connects to it', async () => {
    const root = place();
    chmodSync(root, 0o1777);
    const path = socketPath(root);
    const trap = runModule(
      `
        import { mkdirSync } from 'node:fs';
        import { createServer } from 'node:net';
        mkdirSync(${JSON.stringify(dirname(path))}, { mode: 0o700 });
        createServer((socket) => socket.on('data', () => console.log('heard')))
          .listen(${JSON.stringify(path)}, () => console.log('trap set'));
      `,
      nobody,
    );
    await trap.says('trap set');
    const refusal = {
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining(`belongs to user ${NOBODY}, not to you (0)`),
    };
    await expect(listen({ path })).rejects.toMatchObject(refusal);
    await expect(ask(path)).rejects.toMatchObject(refusal);
    trap.kill('SIGTERM');
    expect(await trap.ended).toEqual({ end: 'SIGTERM', output: 'trap set\n' });
  });
});
