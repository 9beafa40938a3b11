import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { expectNothingLeft, finishedSoon } from './ending.ts';
import { envelopeOf, runMuster, Sandbox } from './muster.ts';
import { endAllOf, pidsOf, waitForMarked } from './processes.ts';
import { bash, callsInTurn, lastResults, openWorld, type World } from './world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

const AUTONOMOUS = ['-p', 'go', '--permission-mode', 'autonomous', '--output-format', 'json'];

/** What a command says in a run where everything may run; its environment holds a secret. */
async function told(world: World, args: readonly string[] = AUTONOMOUS): Promise<string> {
  const run = await world.run(args, { env: { MY_TOKEN: 'SECRET-OF-THE-USER' } });
  expect(run.stderr).toBe('');
  return lastResults(world.model)[0]?.text ?? '';
}

function homeFile(world: World, name: string, text: string): string {
  const path = join(world.sandbox.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A server of this machine that says hello. */
async function listen(): Promise<{ readonly port: number } & Disposable> {
  const server = createServer((socket) => socket.end('hello\n')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, [Symbol.dispose]: () => void server.close() };
}

describe.runIf(HAS_BUBBLEWRAP).concurrent('a command of the model', () => {
  it('creates no protected file, not in the background either', async () => {
    await using world = await openWorld({
      script: callsInTurn(
        [{ name: 'Bash', input: { command: 'touch .npmrc; sleep 5', run_in_background: true } }],
        [bash('sleep 2.5; ls -A; touch .envrc')],
        [bash('ls -A')],
      ),
    });
    await world.run(['-p', 'go', '--permission-mode', 'autonomous']);
    const texts = world.model.requests.flatMap(({ messages }) =>
      (messages.at(-1)?.toolResults ?? []).map(({ text }) => text),
    );
    expect(texts.slice(1)).toEqual([
      expect.stringMatching(
        /^\[it ended without an error, but not all files that it made were kept\]\n\[the sandbox took \.envrc out of the workspace, /,
      ),
      '[exit code 0]',
    ]);
    expect(readdirSync(world.sandbox.workspace)).toEqual([]);
    const kept = join(world.sandbox.data, 'sandbox/removed');
    expect(
      readdirSync(kept)
        .flatMap((name) => readdirSync(join(kept, name)))
        .toSorted(),
    ).toEqual(['.envrc', '.npmrc']);
  });

  it('writes in the workspace and not outside, and gets the reason', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash('echo a > inside && echo b > /var/tmp/muster-outside')]),
    });
    expect(await told(world)).toBe(
      '/bin/bash: line 1: /var/tmp/muster-outside: Read-only file system\n[exit code 1]\n[the sandbox allows writing only inside the workspace, $TMPDIR and the caches of package managers, and /var/tmp/muster-outside is outside: --add-dir /var/tmp opens it]',
    );
    expect(readdirSync(world.sandbox.workspace)).toEqual(['inside']);
  });

  it('obeys the rules about paths, whatever command it is, and also in a child', async () => {
    const calls = [
      bash(`python3 -c "print(open('hidden/x').read())" || cat hidden/x`),
      bash('echo evil > "$(echo a.txt)"'),
      bash('cat a.txt b.txt; echo changed > b.txt'),
      bash('echo evil > a.txt'),
    ];
    const files = { 'hidden/x': 'SECRET', 'a.txt': 'as it was\n', 'b.txt': 'as it was\n' };
    const rules = ['--deny', 'Read(hidden/**)', '--deny', 'Edit(a.txt)'];
    const ways = [
      [...AUTONOMOUS, ...rules],
      [
        '-p',
        'go',
        '--allow',
        'Bash',
        '--allow',
        'Task',
        '--ask',
        rules[1] ?? '',
        ...rules.slice(2),
      ],
    ];
    for (const args of ways) {
      for (const inChild of [false, true]) {
        const turn = callsInTurn(calls);
        await using world = await openWorld({
          files,
          script: (request) => {
            if (!inChild || lastUserText(request) === 'try') return turn(request);
            return toolResultRounds(request) > 0
              ? { text: 'done' }
              : { toolCalls: [{ name: 'Task', input: { prompt: 'try', description: 'try' } }] };
          },
        });
        const run = await world.run(args);
        const results = world.model.requests
          .flatMap(({ messages }) => messages.at(-1)?.toolResults ?? [])
          .map(({ text }) => text);
        expect(results.slice(0, 4), run.stderr).toEqual([
          expect.stringMatching(/No such file[^]*hidden\/x: No such file[^]*exit code 1/),
          expect.stringMatching(/a\.txt: Read-only file system[^]*exit code 1/),
          'as it was\nas it was\n[exit code 0]',
          expect.stringContaining('The deny rule `Edit(a.txt)` (--deny) forbids this Bash call.'),
        ]);
        const textOf = (name: string) => readFileSync(join(world.sandbox.workspace, name), 'utf8');
        expect(['hidden/x', 'a.txt', 'b.txt'].map(textOf)).toEqual([
          'SECRET',
          'as it was\n',
          'changed\n',
        ]);
      }
    }
  });

  it('finds neither keys of the home directory nor secrets in its environment', async () => {
    await using world = await openWorld({
      files: { '.env': 'KEY=SECRET-OF-THE-PROJECT' },
      script: callsInTurn([bash('cat ~/.ssh/id_rsa .env; ls -A "$MUSTER_DATA_DIR"; env; ls -A ~')]),
    });
    homeFile(world, '.ssh/id_rsa', 'SECRET-OF-THE-USER');
    const text = await told(world);
    expect(text).toContain('MUSTER_TASK=');
    expect(text).not.toContain('SECRET');
    // With its own home as a further root, too.
    const args = [...AUTONOMOUS, '--add-dir', world.sandbox.home];
    expect(await told(world, args)).not.toContain('SECRET');
  });

  it('cannot plant a hook, and hooks still run', async () => {
    await using world = await openWorld({
      script: callsInTurn([
        bash('git commit -q --allow-empty -m one; echo evil > .git/hooks/post-commit'),
      ]),
    });
    const { workspace } = world.sandbox;
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: workspace });
    git('init', '-q');
    git('config', 'user.email', 'a@b');
    git('config', 'user.name', 'a');
    const hook = join(workspace, '.git/hooks/pre-commit');
    writeFileSync(hook, '#!/bin/sh\necho the hook ran\n', { mode: 0o755 });
    expect(await told(world)).toMatch(
      /^the hook ran\n.*hooks\/post-commit: Read-only file system\n\[exit code 1\]\n\[the sandbox/,
    );
    expect(git('log', '--format=%s').toString()).toBe('one\n');
    expect(readdirSync(workspace)).toEqual(['.git']);
  });

  it('reaches a server of this machine only where the user allows it', async () => {
    using server = await listen();
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && cat <&3`;
    await using world = await openWorld({ script: callsInTurn([bash(ask)]) });
    expect(await told(world)).toMatch(/Connection refused[^]*\[the sandbox has no network: /);
    await using open = await openWorld({ script: callsInTurn([bash(ask)]) });
    await open.run(AUTONOMOUS, { env: { MUSTER_SANDBOX_NETWORK: 'true' } });
    expect(lastResults(open.model)[0]?.text).toBe('hello\n[exit code 0]');
  });

  it('sees no process of this machine, and leaves no process that forked twice and closed its descriptors', async ({
    onTestFinished,
  }) => {
    const seconds = `${300_000 + process.pid}.5`;
    const escape = `(env -i setsid setsid sleep ${seconds} &) ; sleep 0.2; ls -d /proc/[0-9]* | wc -l; ls /proc/${process.pid} 2>/dev/null; true`;
    await using world = await openWorld({ script: callsInTurn([bash(escape)]) });
    // By its words: it has no environment to be known by where the sandbox does not hold.
    const args = `sleep ${seconds}`;
    onTestFinished(() => endAllOf(args));
    const text = await told(world);
    const note = '1 process was still running in the background and stopped with the command';
    expect(text.slice(1)).toBe(`\n[${note}: "${args}"]\n[exit code 0]`);
    expect(text).toMatch(/^\d/);
    expect(pidsOf(args)).toEqual([]);
    expectNothingLeft(world);
  });

  it('changes nothing in plan mode, however it was allowed', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'as it was' },
      script: callsInTurn([bash('git status; cat a.txt')]),
    });
    await world.run(['-p', 'go', '--permission-mode', 'plan', '--allow', 'Bash']);
    expect(readdirSync(world.sandbox.workspace)).toEqual(['a.txt']);
    using sandbox = new Sandbox({ 'a.txt': 'as it was' });
    const command = 'echo x > a.txt; echo y > b; mkdir c; rm -rf a.txt; chmod 0 a.txt; cat a.txt';
    const run = await runMuster(sandbox, ['sandbox', '--read-only', '--', 'bash', '-c', command]);
    expect([run.code, run.stdout]).toEqual([0, 'as it was']);
    expect(readdirSync(sandbox.workspace)).toEqual(['a.txt']);
  });

  it('is asked to end with a signal, and is killed if it does not obey', async () => {
    await using world = await openWorld({
      script: callsInTurn([
        bash("trap 'echo bye > bye; exit 0' TERM; touch ready; sleep 60 & wait"),
      ]),
    });
    const running = world.start(AUTONOMOUS);
    await waitForMarked(world.mark, (pids) => pids.length > 5);
    await waitUntilPasses(() => {
      expect(existsSync(join(world.sandbox.workspace, 'ready'))).toBe(true);
    });
    process.kill(running.pid, 'SIGTERM');
    const run = await finishedSoon(running.finished);
    expect(run.code).toBe(143);
    expect(envelopeOf(run).data.status).toBe('stopped');
    expect(readFileSync(join(world.sandbox.workspace, 'bye'), 'utf8')).toBe('bye\n');
    expectNothingLeft(world);
  });

  it('is gone when Muster is killed, and the next start removes the placeholders of missing files', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('sleep 60')]) });
    const running = world.start(AUTONOMOUS);
    await waitForMarked(world.mark, (pids) => pids.length > 4);
    process.kill(running.pid, 'SIGKILL');
    await running.finished;
    await waitForMarked(world.mark, (pids) => pids.length === 0);
    const { workspace } = world.sandbox;
    for (const name of readdirSync(workspace)) {
      expect(readdirSync(join(workspace, name))).toEqual([]);
    }
    await using next = await openWorld({ script: () => ({ text: 'done' }) });
    const env = { MUSTER_DATA_DIR: world.sandbox.data };
    await next.run(['-p', 'go'], { env });
    expect(readdirSync(workspace)).toEqual([]);
  });
});

describe.runIf(HAS_BUBBLEWRAP).concurrent('muster sandbox', () => {
  it('runs a command with its stdin, stdout, stderr and exit code', async () => {
    using sandbox = new Sandbox();
    const args = ['sandbox', '--', 'bash', '-c', 'cat; echo err >&2; exit 7'];
    const run = await runMuster(sandbox, args, { stdin: 'from stdin' });
    expect(run).toEqual({ code: 7, signal: null, stdout: 'from stdin', stderr: 'err\n' });
    const killed = await runMuster(sandbox, ['sandbox', '--', 'bash', '-c', 'kill -TERM $$']);
    expect(killed.code).toBe(143);
    const missing = await runMuster(sandbox, ['sandbox', '--', 'no-such-program']);
    expect(missing.code).toBe(127);
    expect(readdirSync(sandbox.workspace)).toEqual([]);
  });

  it('takes directories, links to them, and the network', async () => {
    using sandbox = new Sandbox();
    using server = await listen();
    const other = join(sandbox.root, 'it’s "other"');
    mkdirSync(other);
    symlinkSync(other, join(sandbox.root, 'link'));
    const command = `echo a > ../'it’s "other"'/a; exec 3<>/dev/tcp/127.0.0.1/${server.port} && cat <&3`;
    const flags = ['--network', '--add-dir', '../link'];
    const run = await runMuster(sandbox, ['sandbox', ...flags, '--', 'bash', '-c', command]);
    expect(run).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' });
    expect(readFileSync(join(other, 'a'), 'utf8')).toBe('a\n');
    const cwd = await runMuster(sandbox, ['sandbox', '--cwd', '../link', '--', 'pwd']);
    expect(cwd.stdout).toBe(`${other}\n`);
  });
});

describe.concurrent('without a sandbox', () => {
  it('muster sandbox runs nothing, and says why', async () => {
    using sandbox = new Sandbox();
    const run = await runMuster(sandbox, ['sandbox', '--', 'touch', 'made'], {
      env: { MUSTER_SANDBOX_KIND: 'seatbelt' },
    });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^muster: no sandbox, so nothing was run: .*\nmuster: to get one: /);
    expect(existsSync(join(sandbox.workspace, 'made'))).toBe(false);
  });

  it.runIf(process.platform === 'linux')('a run says so once, and goes on', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash('echo a')], [bash('echo b')]),
    });
    const env = { MUSTER_SANDBOX_KIND: 'seatbelt' };
    const run = await world.run(['-p', 'go', '--allow', 'Bash'], { env });
    expect([run.code, run.stdout]).toEqual([0, 'done\n']);
    expect(run.stderr).toMatch(/^muster: no sandbox: .*To get a sandbox: .*\n$/);
    expect(run.stderr.match(/no sandbox/g)?.length).toBe(1);
  });

  it('a run whose commands were all refused because of it fails, and names the switch', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash('touch made')], [bash('touch made, too')]),
    });
    const env = { MUSTER_SANDBOX_KIND: 'off' };
    const run = await world.run(['-p', 'go', '--permission-mode', 'autonomous'], { env });
    expect([run.code, run.stdout]).toEqual([1, 'done\n']);
    expect(run.stderr).toMatch(/^muster: no command ran: .*--sandbox container .*\n$/);
    expect(readdirSync(world.sandbox.workspace)).toEqual([]);
  });

  it('a run in which one command ran does not fail', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash('touch made')], [bash('touch other')]),
    });
    const env = { MUSTER_SANDBOX_KIND: 'off' };
    const args = ['-p', 'go', '--permission-mode', 'autonomous', '--allow', 'Bash(touch made)'];
    const run = await world.run(args, { env });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(readdirSync(world.sandbox.workspace)).toEqual(['made']);
  });
});

describe.concurrent('a machine that is itself the sandbox', () => {
  const ITSELF = ['--sandbox', 'container'];

  it('runs the commands of autonomous mode as they are', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash('touch made; kill -0 $PPID && echo "$HOME"')]),
    });
    expect(await told(world, [...AUTONOMOUS, ...ITSELF])).toBe(
      `${world.sandbox.home}\n[exit code 0]`,
    );
    expect(readdirSync(world.sandbox.workspace)).toEqual(['made']);
  });

  it('is set by the variable and the file of the user, and by no project', async () => {
    await using world = await openWorld({
      script: callsInTurn([bash('kill -0 $PPID && echo bare')]),
      files: { '.muster/config.toml': '[sandbox]\nkind = "container"\n' },
    });
    const run = await world.run([...AUTONOMOUS, '--trust-project'], {
      env: { MUSTER_SANDBOX_KIND: 'off' },
    });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('a project cannot set sandbox.kind');
    homeFile(world, '.config/muster/config.toml', '[sandbox]\nkind = "container"\n');
    await world.run(AUTONOMOUS);
    expect(lastResults(world.model)[0]?.text).toContain('bare\n[exit code 0]');
  });

  it('runs nothing in plan mode that only a read-only sandbox would make harmless', async () => {
    const commands = ['touch made', 'git status', 'ls'];
    await using world = await openWorld({ script: callsInTurn(commands.map(bash)) });
    const cwd = world.sandbox.workspace;
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd });
    git('init', '-q');
    git('config', 'filter.x.clean', 'touch pwned; cat');
    await world.run(['-p', 'go', '--permission-mode', 'plan', ...ITSELF]);
    const results = lastResults(world.model);
    expect(results.map(({ isError }) => isError)).toEqual([true, true, false]);
    expect(results[1]?.text).toContain('which may run a program, and there is no sandbox');
    expect(readdirSync(cwd)).toEqual(['.git']);
  });

  it('asks as usual in the other modes', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('touch made')]) });
    const run = await world.run(['-p', 'go', ...ITSELF]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lastResults(world.model)[0]?.text).toContain('neither a rule nor default mode');
  });
});
