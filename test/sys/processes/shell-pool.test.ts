import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { array, assert, asyncProperty, string } from 'fast-check';
import { expect, test } from 'vitest';
import { shellPool, type PooledProgram } from '../../../src/sys/processes/shell-pool.ts';
import { tempDirectory } from '../temp.ts';

const NEVER = new AbortController().signal;

/** Runs a program of the system and collects its output. */
async function run(options: Partial<PooledProgram> & Pick<PooledProgram, 'file' | 'args'>) {
  let output = '';
  const exit = await shellPool.run({
    cwd: '/',
    timeMs: 10_000,
    signal: NEVER,
    onOutput: (text) => {
      output += text;
      return true;
    },
    ...options,
  });
  return { ...exit, output };
}

const sh = (script: string, options: Partial<PooledProgram> = {}) =>
  run({ file: '/bin/sh', args: ['-c', script], ...options });

test('a program gets its arguments, its directory, an empty environment and an empty stdin', async () => {
  const cwd = join(tempDirectory(), "it's $HOME `here`\n");
  mkdirSync(cwd);
  expect(await sh('cat; pwd; printf "%s\\n" "$HOME"; echo problem >&2; exit 3', { cwd })).toEqual({
    exitCode: 3,
    output: `${cwd}\n\n`,
    stderr: 'problem\n',
  });
});

test('every argument arrives as it is', async () => {
  const text = string({ unit: 'binary', maxLength: 40 }).map((each) => each.replaceAll('\0', ''));
  await assert(
    asyncProperty(array(text, { maxLength: 4 }), async (args) => {
      const wellFormed = args.map((each) => each.toWellFormed());
      const { output } = await run({ file: '/usr/bin/printf', args: ['[%s]', ...wellFormed] });
      expect(output).toBe(wellFormed.map((each) => `[${each}]`).join('') || '[]');
    }),
    { numRuns: 40 },
  );
});

test('a text with a NUL character is refused', async () => {
  await expect(run({ file: '/bin/echo', args: ['a\0b'] })).rejects.toThrow('NUL character');
});

test.each<[string, Partial<PooledProgram>, string]>([
  ['/nowhere/program', {}, '/nowhere/program cannot be run: there is no such file'],
  ['/etc/passwd', {}, '/etc/passwd cannot be run: the system cannot execute it'],
  [
    '/bin/true',
    { cwd: '/nowhere' },
    '/bin/true cannot be run: its working directory cannot be entered',
  ],
])('%s cannot be run', async (file, options, message) => {
  await expect(run({ file, args: [], ...options })).rejects.toThrow(message);
});

test('a program that a signal ends is told from one that the pool kills', async () => {
  expect(await sh('kill -SEGV $$')).toMatchObject({ exitCode: null, endedBy: 'SIGSEGV' });
  const enough = await sh('echo first; exec sleep 60', { onOutput: () => false });
  expect(enough).toMatchObject({ exitCode: null, killed: 'no_more_needed' });
  expect(await sh('exec sleep 60', { timeMs: 50 })).toMatchObject({
    exitCode: null,
    killed: 'time',
  });
  const signal = AbortSignal.timeout(50);
  expect(await sh('exec sleep 60', { signal })).toMatchObject({ exitCode: null, killed: 'signal' });
  const aborted = await sh('exec sleep 60', { signal: AbortSignal.abort() });
  expect(aborted).toMatchObject({ exitCode: null, killed: 'signal' });
});

test('a program that waits for a shell is ended by its signal and its time limit', async () => {
  const signal = AbortSignal.timeout(1_500);
  const busy = Array.from({ length: 2 * availableParallelism() + 4 }, () =>
    sh('exec sleep 60', { signal }),
  );
  const waiting = await Promise.all([
    sh('echo never', { signal: AbortSignal.timeout(50) }),
    sh('echo never', { timeMs: 50 }),
  ]);
  expect(waiting.map(({ killed, output }) => [killed, output])).toEqual([
    ['signal', ''],
    ['time', ''],
  ]);
  // They ended while all shells were busy.
  expect(signal.aborted).toBe(false);
  for (const { killed } of await Promise.all(busy)) expect(killed).toBe('signal');
  expect((await sh('echo again')).output).toBe('again\n');
});

test('shells are used again after failures, and replaced after they were killed', async () => {
  await sh('true');
  const before = descriptorCount();
  for (let round = 0; round < 20; round += 1) {
    await expect(run({ file: '/nowhere/program', args: [] })).rejects.toThrow('no such file');
    await expect(run({ file: '/bin/echo', args: ['a\0b'] })).rejects.toThrow('NUL');
  }
  expect(descriptorCount()).toBe(before);
  const { output } = await sh('echo $PPID');
  process.kill(Number(output), 'SIGKILL');
  await expectEnded(Number(output));
  // The end of the shell is noticed when the event loop is free.
  await sleep(50);
  expect((await sh('echo replaced')).output).toBe('replaced\n');
});

function descriptorCount(): number {
  return readdirSync('/proc/self/fd').length;
}

test('many programs at a time get their own output, however long it is', async () => {
  const runs = Array.from({ length: 40 }, (_, index) =>
    sh(
      `i=0; while [ $i -lt 300 ]; do echo "${index} line $i with some more text"; i=$((i+1)); done`,
    ),
  );
  for (const [index, { output, exitCode }] of (await Promise.all(runs)).entries()) {
    const lines = output.trimEnd().split('\n');
    expect(exitCode).toBe(0);
    expect(lines).toHaveLength(300);
    expect(lines.every((line) => line.startsWith(`${index} line `))).toBe(true);
  }
});

test('idle shells do not keep the process alive, and end with it even if it is killed', async () => {
  const directory = tempDirectory();
  const program = join(directory, 'program.ts');
  writeFileSync(
    program,
    `import { shellPool } from ${JSON.stringify(join(import.meta.dirname, '../../../src/sys/processes/shell-pool.ts'))};
     const run = (args) => shellPool.run({ file: '/bin/sh', args: ['-c', ...args], cwd: '/', timeMs: 60_000, signal: new AbortController().signal, onOutput: (text) => { process.stdout.write(text); return true; } });
     await run(['echo $PPID']);
     if (process.argv[2] === 'stay') await run(['echo busy; exec sleep 1']);`,
  );
  const shell = execFileSync(process.execPath, [program], { encoding: 'utf8', timeout: 10_000 });
  await expectEnded(Number(shell));
  const child = spawn(process.execPath, [program, 'stay'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  while (!output.includes('busy')) await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  await expectEnded(Number(output.split('\n')[0]), 'the shell ends after the program that it runs');
});

async function expectEnded(pid: number, message?: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(50);
  }
  throw new Error(message ?? `process ${pid} is still there`);
}
