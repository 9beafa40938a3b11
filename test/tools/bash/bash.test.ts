import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findProcesses } from '../../../src/sys/processes/process-table.ts';
import { buildNetworkEnvironment } from '../../../src/sys/processes/command-environment.ts';
import { UNATTENDED } from '../../../src/sys/processes/command-environment.ts';
import { needs } from '../../needs.ts';
import { makeWorkspace } from '../workspace.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

/** A sleep time that nothing else uses, by which the test finds its own processes. */
let sleepers = 0;
function uniqueSeconds(): string {
  sleepers += 1;
  return `${100_000 + process.pid}.${sleepers}`;
}

function running(command: string): string {
  const lines = execFileSync('ps', ['-A', '-o', 'stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(command) && !line.startsWith('Z')).join('\n');
}

test.each([
  ['echo hi', 'hi\n[exit code 0]', 0],
  ['echo out; echo err >&2; echo out2; exit 3', 'out\nerr\nout2\n[exit code 3]', 3],
  ['true', '[exit code 0]', 0],
  [
    'no-such-program-here',
    /^\/bin\/bash: line 1: no-such-program-here: command not found\n\[exit code 127\]$/,
    127,
  ],
  ['echo "open', /unexpected EOF/, 2],
  ['kill -SEGV $$', '[ended by SIGSEGV]', null],
  ['cat', '[exit code 0]', 0],
  ['cat <<X\nhere\nX', 'here\n[exit code 0]', 0],
])('%j', async (command, text, exitCode) => {
  const at = makeWorkspace();
  expect(await at.call('Bash', { command })).toEqual({
    text: typeof text === 'string' ? text : expect.stringMatching(text),
    facts: { commands: [{ command, exitCode }] },
  });
});

test('runs in the working directory, and cd does not last', async () => {
  const at = makeWorkspace();
  expect((await at.call('Bash', { command: 'cd /; pwd' })).text).toBe('/\n[exit code 0]');
  expect((await at.call('Bash', { command: 'pwd' })).text).toBe(`${at.root}\n[exit code 0]`);
  const gone = await at.call('Bash', { command: 'pwd' }, { cwd: at.path('gone') });
  expect(gone).toMatchObject({ error: 'NOT_FOUND' });
});

test('the environment has no secrets and no relative PATH entries', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'sk-secret');
  vi.stubEnv('SOME_TOKEN', 'secret');
  vi.stubEnv('BASH_ENV', '/tmp/evil');
  vi.stubEnv('PATH', `.:bin::${process.env['PATH'] ?? ''}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const at = makeWorkspace();
  const { text } = await at.call('Bash', { command: 'env' });
  const names = text.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
  const allowed =
    /^(PATH|HOME|LANG|LC_\w+|TERM|TMPDIR|USER|LOGNAME|TZ|MUSTER_TASK|MUSTER_PROCESS|PAGER|GIT_\w+|PWD|SHLVL|OLDPWD|_)$/;
  const known = { ...UNATTENDED, ...buildNetworkEnvironment(process.env, true) };
  expect(names.filter((name) => !allowed.test(name) && !(name in known))).toEqual([]);
  expect(text).toContain('MUSTER_TASK=task00000001\n');
  expect(text).toMatch(/^PATH=\//m);
  expect(text).toMatch(/^TERM=dumb$/m);
});

test('control characters are removed', async () => {
  const at = makeWorkspace();
  const command = String.raw`printf '\033[31mred\033[0m\a \033]0;title\007x\b\r\n10%%\r20%%\r100%%\n\tend\033Pq..\033\\'`;
  expect((await at.call('Bash', { command })).text).toBe('red x\n100%\n\tend\n[exit code 0]');
});

test('of a long output the beginning and end are shown, and the full output is in a file', async () => {
  const at = makeWorkspace();
  const { text } = await at.call('Bash', { command: 'seq 1 20000' });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(30_000);
  expect(text).toMatch(/^1\n2\n3\n/);
  expect(text).toMatch(/\n19999\n20000\n\[exit code 0\]$/);
  const spill = at.context.spillPath();
  expect(text).toContain(
    `bytes left out; the full output is in ${spill}: Read it with offset, or Grep it`,
  );
  const whole = `${Array.from({ length: 20_000 }, (_, index) => index + 1).join('\n')}\n`;
  expect(readFileSync(spill, 'utf8')).toBe(whole);
  expect(statSync(spill).mode & 0o777).toBe(0o600);
});

test('bytes that are not UTF-8 do not exceed the limit', async () => {
  const at = makeWorkspace();
  const { text } = await at.call('Bash', {
    command: String.raw`head -c 28000 /dev/zero | tr '\0' '\377'`,
  });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(30_000);
});

test('too much output stops the command at the limit of the spill file', async () => {
  const at = makeWorkspace();
  const result = await at.call('Bash', { command: 'yes' });
  expect(result.error).toBe('LIMIT_EXCEEDED');
  expect(result.text).toMatch(/\[stopped: it wrote more than the limit/);
  expect(result.facts?.commands?.[0]?.exitCode).toBeNull();
  expect(statSync(at.context.spillPath()).size).toBeLessThanOrEqual(at.context.caps.spillBytes);
});

test('at the timeout the output so far is returned and nothing keeps running', async () => {
  const at = makeWorkspace();
  const sleeper = `sleep ${uniqueSeconds()}`;
  const result = await at.call('Bash', { command: `echo before; ${sleeper}`, timeout: 2000 });
  expect(result).toEqual({
    text: 'before\n[stopped: not finished after 2.0 s; a longer timeout (up to 600000 ms) may be given]',
    error: 'TIMEOUT',
    facts: { commands: [{ command: `echo before; ${sleeper}`, exitCode: null }] },
  });
  expect(running(sleeper)).toBe('');
});

test('a process that ignores SIGTERM is killed', async () => {
  const at = makeWorkspace();
  const sleeper = `sleep ${uniqueSeconds()}`;
  const command = `trap '' TERM; echo go; ${sleeper}; ${sleeper}`;
  expect(await at.call('Bash', { command, timeout: 200 })).toMatchObject({ error: 'TIMEOUT' });
  expect(running(sleeper)).toBe('');
});

test.runIf(needs('setsid', 'util-linux')).each([
  ['setsid', (sleeper: string) => `setsid ${sleeper} & echo go; sleep 100`],
  ['setsid, its parent gone', (sleeper: string) => `(setsid ${sleeper} &); echo go; sleep 100`],
  [
    'setsid without environment',
    (sleeper: string) => `env -i setsid ${sleeper} & echo go; sleep 100`,
  ],
  [
    'deaf and out of the group',
    (sleeper: string) => `(trap '' TERM; setsid ${sleeper}) & sleep 100`,
  ],
])('cancelling ends an escaped process: %s', async (_, command) => {
  const at = makeWorkspace();
  const controller = new AbortController();
  const sleeper = `sleep ${uniqueSeconds()}`;
  const call = at.call('Bash', { command: command(sleeper) }, { signal: controller.signal });
  await waitUntilPasses(() => {
    expect(running(sleeper)).not.toBe('');
  });
  controller.abort();
  expect(await call).toMatchObject({ error: 'CANCELLED' });
  expect(running(sleeper)).toBe('');
});

test('a background child that holds the pipe does not delay the call', async () => {
  const at = makeWorkspace();
  const sleeper = `sleep ${uniqueSeconds()}`;
  expect((await at.call('Bash', { command: `${sleeper} & echo done` })).text).toBe(
    `done\n[1 process was still running in the background and stopped with the command: "${sleeper}"]\n[exit code 0]`,
  );
  expect(running(sleeper)).toBe('');
});

test('parallel calls do not end one another', async () => {
  const at = makeWorkspace();
  const [quick, slow] = await Promise.all([
    at.call('Bash', { command: 'sleep 100 & true' }),
    at.call('Bash', { command: 'sleep 0.6; echo alive' }),
  ]);
  expect(quick.text).toMatch(/1 process was still running/);
  expect(slow.text).toBe('alive\n[exit code 0]');
});

test('a command that the system cannot run is refused', async () => {
  const at = makeWorkspace();
  expect(await at.call('Bash', { command: 'true\0' })).toMatchObject({ error: 'INVALID_PARAM' });
  const long = await at.call('Bash', { command: `true ${'x'.repeat(200_000)}` });
  expect(long).toEqual({
    text: 'command: is longer than 120000 bytes; write it to a file and run that',
    error: 'LIMIT_EXCEEDED',
  });
});

test('the last line is shown while it works', async () => {
  const at = makeWorkspace();
  await at.call('Bash', { command: 'echo one' });
  expect(at.progress).toEqual(['one']);
});

test('the timeout is at most the tool limit of the task', async () => {
  const at = makeWorkspace();
  const caps = { ...at.context.caps, toolMs: 100 };
  const result = await at.call('Bash', { command: 'sleep 50' }, { caps });
  expect(result).toMatchObject({ error: 'TIMEOUT' });
});

test('no process is found by an unknown mark', () => {
  const bystander = spawn('sleep', ['30']);
  onTestFinished(() => void bystander.kill('SIGKILL'));
  expect(findProcesses({ marks: new Set(['MUSTER_PROCESS=nobody']) })).toEqual([]);
});
