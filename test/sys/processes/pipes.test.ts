import { execFileSync } from 'node:child_process';
import { openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { Pipe, takePipe } from '../../../src/sys/processes/pipes.ts';
import { spawnProcessGroup } from '../../../src/sys/processes/process-group.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

const SOURCES = join(import.meta.dirname, '../../../src/sys');

/** What the command prints, once it has ended. */
async function printed(command: string): Promise<string> {
  const output = await takePipe();
  const group = spawnProcessGroup('/bin/bash', ['-c', `exec 2>&1; ${command}`], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    output,
  });
  const all = text(group.stdout);
  await group.exited;
  return await all;
}

function pipesHere(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      return target.startsWith('pipe:') ? [target] : [];
    } catch {
      // The descriptor that listed the others.
      return [];
    }
  });
}

describe.runIf(process.platform === 'linux')('a pipe as stdout', () => {
  test.each([
    ['echo x > /dev/stdout', 'x\n'],
    ['echo x > /dev/stderr', 'x\n'],
    ['echo x > /dev/fd/2; echo y >> /dev/fd/1', 'x\ny\n'],
    ['exec 5>&1; echo x > /dev/fd/5', 'x\n'],
    ['echo x > /proc/self/fd/1', 'x\n'],
    ['echo x | tee /dev/stderr', 'x\nx\n'],
    ['cat < /dev/stdin', ''],
  ])('%s', async (command, output) => {
    expect(await printed(command)).toBe(output);
  });

  test('carries more than its capacity', async () => {
    expect((await printed('head -c 3000000 /dev/zero > /dev/stdout')).length).toBe(3_000_000);
  });

  test('is a kernel pipe, and the only descriptor of ours that a child has', async () => {
    const links = await printed('for n in /proc/self/fd/*; do readlink "$n"; done');
    const pipes = links.split('\n').filter((link) => link.startsWith('pipe:'));
    expect(new Set(pipes).size).toBe(1);
  });

  test('ends for the reader when the last writer ends', async () => {
    expect(await printed('(sleep 0.2; echo late) & echo early')).toBe('early\nlate\n');
  });

  test('is there for each of many callers at once, also if they are more than one batch', async () => {
    const pipes = await Promise.all(Array.from({ length: 30 }, () => takePipe()));
    for (const pipe of pipes) pipe?.close();
    expect(pipes.filter((pipe) => pipe === null)).toEqual([]);
  });

  test('leaves no descriptor behind', async () => {
    const before = pipesHere().length;
    for (let round = 0; round < 20; round += 1) {
      const commands = Array.from({ length: 10 }, (_, index) => `echo ${index} > /dev/stderr`);
      const outputs = await Promise.all(commands.map(printed));
      expect(outputs).toEqual(commands.map((_, index) => `${index}\n`));
    }
    // Of those that wait for their use there may be two batches.
    expect(pipesHere().length - before).toBeLessThanOrEqual(16);
  });

  test('is closed when the program cannot be started', async () => {
    const output = await takePipe();
    const group = spawnProcessGroup('/no/such/program', [], { cwd: '/', env: {}, output });
    await expect(group.exited).rejects.toThrow('ENOENT');
    expect(await text(group.stdout)).toBe('');
    expect(() => readlinkSync(`/proc/self/fd/${output?.readEnd}`)).toThrow('ENOENT');
  });

  test('is replaced by a socket if it cannot be opened', async () => {
    // As if its descriptor were of another kind: a directory is not opened for writing.
    const output = new Pipe(openSync('/', 'r'));
    const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, output };
    const group = spawnProcessGroup('/bin/sh', ['-c', 'echo hi'], options);
    expect(await text(group.stdout)).toBe('hi\n');
  });

  test('leaves no file and no process, even after kill -9', async () => {
    const before = readdirSync(tmpdir());
    const script = `
      import { takePipe } from ${JSON.stringify(join(SOURCES, 'processes/pipes.ts'))};
      void takePipe();
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1);`;
    const environment = { PATH: '/usr/bin:/bin', TMPDIR: tmpdir() };
    for (let round = 0; round < 3; round += 1) {
      expect(() =>
        execFileSync(process.execPath, ['--input-type=module', '-e', script], {
          env: environment,
        }),
      ).toThrow('SIGKILL');
    }
    await waitUntilPasses(() => {
      expect(helpers()).toEqual([]);
    });
    const added = readdirSync(tmpdir()).filter((name) => !before.includes(name));
    expect(added.filter((name) => /pipe|fifo|^sh-/i.test(name))).toEqual([]);
  });

  test.runIf(process.geteuid?.() === 0)('works for an ordinary user, too', () => {
    const script = `
      import { takePipe } from ${JSON.stringify(join(SOURCES, 'processes/pipes.ts'))};
      import { spawnProcessGroup } from ${JSON.stringify(join(SOURCES, 'processes/process-group.ts'))};
      const output = await takePipe();
      const group = spawnProcessGroup('/bin/sh', ['-c', 'id -u > /dev/stdout'], { cwd: '/', env: { PATH: '/usr/bin:/bin' }, output });
      group.stdout.pipe(process.stdout);
      await group.exited;`;
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      cwd: '/',
      uid: 65_534,
      gid: 65_534,
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(out).toBe('65534\n');
  });
});

/** The helpers that make pipes, of whatever process. */
function helpers(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
        const parent = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
        return line.includes('echo ready; read -r _') && parent === '1' ? [pid] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
