import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PROTECTED_PATHS } from '../../../src/sys/files/protected-names.ts';
import { spawnProcessGroup } from '../../../src/sys/processes/process-group.ts';
import { endAllOf, pidsOf } from '../../e2e/processes.ts';
import { needs } from '../../needs.ts';
import { HAS_BUBBLEWRAP, MAX_ATTEMPTS, Place, runIn } from './support.ts';

const OPEN_SANDBOX = join(import.meta.dirname, '../../../src/sys/sandbox/open-sandbox.ts');
const PROCESSES = join(import.meta.dirname, '../../../src/sys/processes/process-group.ts');

async function listen(where: { readonly port: number } | { readonly path: string }) {
  const server = createServer((socket) => socket.end('hello'));
  if ('port' in where) server.listen(0, '127.0.0.1');
  else server.listen(where.path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function git(cwd: string, ...args: readonly string[]): string {
  const identity = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@b',
    '-c',
    'protocol.file.allow=always',
  ];
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

describe.runIf(HAS_BUBBLEWRAP)('a command in the sandbox', () => {
  test('writes in the roots and its temporary directory, and nowhere else', async () => {
    const at = new Place();
    const other = at.directory('other');
    const command = `echo a > made && mkdir -p b/c && echo t > "$TMPDIR/t" && cat "$TMPDIR/t"
      for path in ${at.home}/x ${at.base}/x /etc/muster-x /var/tmp/muster-x /usr/x /x; do
        { echo x > "$path"; } 2>/dev/null && echo "$path"; done; true`;
    const roots = [at.root, other];
    const ran = await runIn(at.sandbox(), `${command}; echo o > ${other}/o`, { roots });
    expect(ran).toEqual({ code: 0, out: 't\n', report: 'begun\nleft 0\n' });
    expect(at.tree()).toEqual([
      'home',
      'other',
      'other/o',
      'records',
      'work',
      'work/b',
      'work/b/c',
      'work/made',
    ]);
  });

  test('changes nothing at all if it may only read', async () => {
    const at = new Place();
    at.write('work/file', 'as it was');
    const before = at.tree();
    const command =
      'cat file; for f in file new .git d/x; do { echo x > $f; } 2>/dev/null && echo wrote $f; done; mkdir d; rm -f file; chmod 777 file; touch file; mv file g; ln file h; true';
    const ran = await runIn(at.sandbox(), command, { access: 'read-only', roots: [at.root] });
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/^as it was/);
    expect(ran.out).not.toContain('wrote');
    expect(at.tree().filter((name) => !name.startsWith('records'))).toEqual(before);
    expect(readFileSync(join(at.root, 'file'), 'utf8')).toBe('as it was');
  });

  test('has created, changed and moved nothing that is protected when it has ended', async () => {
    const at = new Place();
    git(at.root, 'init', '-q');
    at.write('work/.mcp.json', '{}');
    at.write('work/.claude/settings.json', '{}');
    const before = at.tree();
    const names = PROTECTED_PATHS.filter((name) => name !== '.git');
    const command = `
      for name in ${names.join(' ')} .git/hooks .git/config .git/config.worktree; do
        { echo x > $name || { mkdir -p $name && echo x > $name/in; }; } 2>/dev/null
      done
      for name in .mcp.json .claude .git/hooks .git/config; do
        rm -rf $name 2>/dev/null && echo "removed $name"
        mv -n $name moved 2>/dev/null && echo "moved $name"
      done
      mv .git git 2>/dev/null && echo 'moved .git'
      git config user.name me 2>/dev/null && echo configured
      mkdir -p .yarn/plugins/x .config/git; echo x > .NPMRC; echo x > a.code-workspace
      cat .mcp.json`;
    const ran = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect(ran).toEqual({ code: 0, out: '{}', report: 'begun\nleft 0\n' });
    // To move what is mounted is to copy it, and to fail at removing it.
    rmSync(join(at.root, 'moved'), { recursive: true, force: true });
    const there = at.tree().filter((name) => !name.startsWith('records'));
    // Of a protected name with several parts the directories above it may stay.
    expect(there.filter((name) => !before.includes(name))).toEqual([
      'work/.cargo',
      'work/.config',
      'work/.github',
      'work/.yarn',
      'work/library',
    ]);
    expect(before.filter((name) => !there.includes(name))).toEqual([]);
    expect(readdirSync(at.records)).toEqual(['removed']);
  });

  test('cannot configure the kernel', async () => {
    const at = new Place();
    // What any user may write anywhere, root may here.
    const command = `find /proc -path '/proc/[0-9]*' -prune -o -path /proc/self -prune -o -path /proc/thread-self -prune -o -type f -writable ! -perm -o+w -print
      v=$(cat /proc/sys/vm/swappiness) && { echo $v > /proc/sys/vm/swappiness; } 2>/dev/null && echo wrote; true`;
    const ran = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect(ran).toEqual({ code: 0, out: '', report: 'begun\nleft 0\n' });
  });

  test('moves no directory that contains something protected or secret', async () => {
    const at = new Place();
    at.write('work/.github/agents/a.md', 'as it was');
    at.write('work/home/.config/gh/hosts.yml', 'SECRET');
    const home = join(at.root, 'home');
    const command = `mv .github moved; mkdir -p .github/agents; echo evil > .github/agents/a.md
      mv home/.config moved; mv home other; cp -r home/.config copied; cat moved/gh/* home/.config/gh/*`;
    await runIn(at.sandbox({ home }), `{ ${command}; } 2>/dev/null`, { roots: [at.root] });
    expect(readFileSync(join(at.root, '.github/agents/a.md'), 'utf8')).toBe('as it was');
    expect(readFileSync(join(home, '.config/gh/hosts.yml'), 'utf8')).toBe('SECRET');
  });

  test('makes no repository use another configuration', async () => {
    const at = new Place();
    git(at.root, 'init', '-q', '-b', 'main');
    git(at.root, 'commit', '-q', '--allow-empty', '-m', 'one');
    const command = `
      git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two && git status -s && git gc -q
      git log --format=%s`;
    await runIn(at.sandbox(), 'echo ../evil > .git/commondir', { roots: [at.root] });
    const ran = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect(ran).toEqual({ code: 0, out: 'two\none\n', report: 'begun\nleft 0\n' });
    expect(existsSync(join(at.root, '.git/commondir'))).toBe(false);
    expect(git(at.root, 'log', '--format=%s')).toBe('two\none\n');
  });

  test('changes no hooks where the configuration places them, and no included files', async () => {
    const at = new Place();
    git(at.root, 'init', '-q');
    at.write('work/scripts/git-hooks/pre-commit', 'as it was');
    at.write('work/shared.ini', '[core]\n\thooksPath = later/hooks\n');
    const other = at.directory('other');
    at.write('other/hooks/pre-push', 'as it was');
    git(at.root, 'config', 'core.hooksPath', 'scripts/git-hooks');
    git(at.root, 'config', '--add', 'core.hooksPath', join(other, 'hooks'));
    git(at.root, 'config', 'include.path', '../shared.ini');
    const before = at.tree();
    const command = `
      { echo x > scripts/git-hooks/pre-commit; } 2>/dev/null && echo changed
      { echo x > scripts/git-hooks/pre-push; } 2>/dev/null && echo planted
      mv scripts moved 2>/dev/null && echo moved
      rm -rf scripts 2>/dev/null && echo removed
      { mkdir -p later/hooks && echo x > later/hooks/pre-push; } 2>/dev/null && echo made
      { echo x > shared.ini; } 2>/dev/null && echo included
      { echo x > ${other}/hooks/pre-push; } 2>/dev/null && echo other
      echo y > scripts/other; git status -s; cat scripts/git-hooks/pre-commit`;
    const roots = [at.root, other];
    const ran = await runIn(at.sandbox(), command, { roots });
    expect(ran.out).toBe('made\n?? later/\n?? scripts/\n?? shared.ini\nas it was');
    expect(at.tree().filter((name) => !name.startsWith('records'))).toEqual([
      ...before.slice(0, before.indexOf('work/scripts/git-hooks/pre-commit') + 1),
      'work/scripts/other',
      ...before.slice(before.indexOf('work/scripts/git-hooks/pre-commit') + 1),
    ]);
  });

  test('works in a repository whose hooks are at its top, and changes none of them', async () => {
    const at = new Place();
    git(at.root, 'init', '-q');
    at.write('work/pre-commit', 'as it was');
    git(at.root, 'config', 'core.hooksPath', '.');
    const command = 'echo a > a; { echo x > pre-commit; } 2>/dev/null; cat a pre-commit';
    const ran = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect(ran.out).toBe('a\nas it was');
  });

  test('leaves no secret directory that was missing, even while another command runs', async () => {
    const at = new Place();
    const home = at.root;
    const sandbox = at.sandbox({ home });
    await sandbox.state();
    const confinement = { access: 'workspace', roots: [home], network: false } as const;
    const first = sandbox.confine({
      argv: ['true'],
      cwd: home,
      env: {},
      confinement,
      stderr: 'command',
    });
    const command = 'mkdir -p .ssh && echo x > .ssh/authorized_keys';
    await runIn(sandbox, command, { roots: [home] });
    expect(readdirSync(home)).toEqual([]);
    first.release();
    expect(readdirSync(home)).toEqual([]);
  });

  test('finds in its directory exactly what exists', async () => {
    const at = new Place();
    at.write('work/a');
    const ran = await runIn(at.sandbox(), 'ls -A', { roots: [at.root] });
    expect(ran).toEqual({ code: 0, out: 'a\n', report: 'begun\nleft 0\n' });
  });

  test('commits in a linked working tree, whose configuration it cannot change', async () => {
    const at = new Place();
    git(at.root, 'init', '-q', '-b', 'main');
    git(at.root, 'commit', '-q', '--allow-empty', '-m', 'one');
    const tree = join(at.root, 'tree');
    git(at.root, 'worktree', 'add', '-q', tree);
    const kept = '.git/worktrees/tree';
    const command = `
      git -c user.name=a -c user.email=a@b -C tree commit -q --allow-empty -m two && git gc -q
      git -C tree log --format=%s
      for name in gitdir commondir config.worktree; do
        { echo ../evil > ${kept}/$name; } 2>/dev/null && echo "wrote $name"
      done`;
    const ran = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect(ran.out).toBe('two\none\nwrote config.worktree\n');
    expect(existsSync(join(at.root, kept, 'config.worktree'))).toBe(false);
    expect(git(tree, 'log', '--format=%s')).toBe('two\none\n');
  });

  test('works with git, and sees no placeholders for missing files', async () => {
    const at = new Place();
    git(at.root, 'init', '-q', '-b', 'main');
    git(at.root, 'config', 'user.email', 'a@b');
    git(at.root, 'config', 'user.name', 'a');
    const hook = at.write('work/.git/hooks/pre-commit', '#!/bin/sh\necho hook ran\n');
    execFileSync('chmod', ['755', hook]);
    const command =
      'echo a > a && git status --short && git add -A && git commit -qm one && git checkout -qb side && git status --short && git log --format=%s && git diff HEAD';
    const ran = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect([ran.code, ran.out]).toEqual([0, '?? a\nhook ran\none\n']);
    expect(git(at.root, 'ls-files')).toBe('a\n');
  });

  test('protects a worktree and a submodule at their real location', async () => {
    const at = new Place();
    git(at.directory('lib'), 'init', '-q');
    at.write('lib/f');
    git(join(at.base, 'lib'), 'add', '-A');
    git(join(at.base, 'lib'), 'commit', '-qm', 'lib');
    git(at.root, 'init', '-q');
    git(at.root, 'submodule', '--quiet', 'add', '../lib', 'sub');
    git(at.root, 'commit', '-qm', 'main');
    git(at.root, 'worktree', 'add', '-q', '../tree');
    const tree = join(at.base, 'tree');
    const sub = join(at.root, 'sub');
    const command = `for path in ${at.root}/.git/config ${at.root}/.git/hooks/x ${tree}/.git ${at.root}/.git/modules/sub/config ${at.root}/.git/worktrees/tree/commondir; do
      { echo x >> $path; } 2>/dev/null && echo wrote $path; done; true`;
    const all = await runIn(at.sandbox(), command, { roots: [at.root, tree] });
    expect([all.code, all.out]).toEqual([0, '']);
    const alone = await runIn(at.sandbox(), `${command}; git status --short`, { roots: [sub] });
    expect([alone.code, alone.out]).toEqual([0, '']);
  });

  test('sees nothing hidden through a .git file that a hostile workspace brings', async () => {
    const at = new Place();
    const secret = at.write('home/.ssh/id', 'SECRET');
    at.write('work/.git', `gitdir: ${join(at.home, '.ssh')}\n`);
    symlinkSync(join(at.home, '.ssh'), join(at.root, '.claude'));
    symlinkSync(secret, join(at.root, '.env'));
    const ran = await runIn(at.sandbox(), `cat ${secret} .claude/id .env`, { roots: [at.root] });
    expect(ran.code).toBe(1);
    expect(ran.out).not.toContain('SECRET');
  });

  test('finds no secrets, and none of Muster’s own', async () => {
    const at = new Place();
    const secrets = [
      'home/.ssh/id_rsa',
      'home/.aws/credentials',
      'home/.netrc',
      'home/.docker/config.json',
      'home/.azure/msal_token_cache.json',
      'home/.config/gcloud/application_default_credentials.json',
      'home/.config/gh/hosts.yml',
      'work/.env',
      'work/key.pem',
      'state/tasks/log.jsonl',
    ].map((name) => at.write(name, 'SECRET'));
    at.write('work/.env.example', 'public');
    const sandbox = at.sandbox({ state: join(at.base, 'state') });
    const command = `cat ${secrets.join(' ')} .env.example /etc/shadow; ls -A ${at.home}/.ssh ${at.base}/state`;
    for (const access of ['workspace', 'read-only'] as const) {
      const ran = await runIn(sandbox, command, { access, roots: [at.root] });
      expect(ran.out).toContain('public');
      expect(ran.out).not.toContain('SECRET');
      expect(ran.out).not.toMatch(/root:|id_rsa$|tasks$/m);
    }
  });

  test('can use neither a server of this machine nor its sockets, unless the network is allowed', async () => {
    const at = new Place();
    const port = await listen({ port: 0 });
    await listen({ path: join(at.root, 'in.sock') });
    await listen({ path: join(at.base, 'out.sock') });
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    const apart = await runIn(at.sandbox(), ask, { roots: [at.root] });
    expect(apart.out).toMatch(/Connection refused/);
    const connect = `for path in in.sock ../out.sock; do ${at.node()} -e 'require("net").connect(process.argv[1]).on("connect", () => console.log("connected")).on("error", (error) => console.log(error.code))' $path; done`;
    const sockets = await runIn(at.sandbox(), connect, { roots: [at.root] });
    expect(sockets.out).toMatch(/^E\w+\nE\w+\n$/);
    const sandbox = at.sandbox();
    await sandbox.state();
    const confined = sandbox.confine({
      argv: ['/bin/bash', '-c', ask],
      cwd: at.root,
      env: { PATH: '/usr/bin:/bin' },
      confinement: { access: 'workspace', roots: [at.root], network: true },
      stderr: 'command',
    });
    const { file, args, env, startCheck } = confined;
    const group = spawnProcessGroup(file, args, { cwd: at.root, env, startCheck });
    const out = await text(group.stdout);
    await group.end();
    confined.release();
    expect(out).toBe('hello');
  });

  test('sees no process of this machine, has no rights, and cannot get any', async () => {
    const at = new Place();
    const command = `ls -d /proc/[0-9]* | wc -l; grep -E 'Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | grep -v 0000000000000000; cat /proc/${process.pid}/environ 2>&1 | head -c 20 | wc -c; kill -9 ${process.pid}; mount -t tmpfs x /mnt; mount -o remount,rw /; true`;
    const { out } = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect(Number(out.split('\n')[0])).toBeLessThan(8);
    expect(out).not.toMatch(/^Cap/m);
    expect(existsSync('/mnt/x')).toBe(false);
    expect(process.pid).toBeGreaterThan(0);
  });

  test('leaves no process behind, whatever it does to escape', async () => {
    const at = new Place();
    const sleeper = `sleep ${200_000 + process.pid}.7`;
    onTestFinished(() => endAllOf(sleeper));
    const command = `( env -i setsid setsid /bin/sh -c "trap '' TERM HUP; ${sleeper} & ${sleeper}" & ) ; sleep 0.1; echo gone`;
    const { code, out, report } = await runIn(at.sandbox(), command, { roots: [at.root] });
    expect([code, out]).toEqual([0, 'gone\n']);
    expect(report).toMatch(/^begun\nleft [23]\n(?:process \d+ \d+ .*\n){2,3}$/);
    expect(pidsOf(sleeper)).toEqual([]);
  });

  test.each([
    ['blanks and quotes', `it's "a" \\ $(b) \`c\``],
    ['a line end and a tab', 'a\nb\tc'],
    ['a colon and an equals sign', 'a:b=c,d'],
    ['Unicode', 'größe-日本-👍'],
    ['a leading dash', '--bind'],
  ])('works in a workspace whose name has %s', async (_, name) => {
    const at = new Place({ name });
    git(at.root, 'init', '-q');
    const ran = await runIn(at.sandbox(), 'pwd > here; echo x > .git/hooks/p; echo y > .npmrc', {
      roots: [at.root],
    });
    expect(ran.code).toBe(0);
    expect(readFileSync(join(at.root, 'here'), 'utf8')).toBe(`${at.root}\n`);
    expect(readdirSync(at.root).toSorted()).toEqual(['.git', 'here']);
    expect(existsSync(join(at.root, '.git/hooks/p'))).toBe(false);
  });

  test('sees a root inside /tmp, and nothing else of it', async () => {
    const at = new Place({ below: '/tmp' });
    at.write('beside', 'SECRET');
    const ran = await runIn(at.sandbox(), `echo a > a; ls /tmp; cat ../beside`, {
      roots: [at.root],
    });
    expect(ran.out.split('\n')[0]).toBe(at.base.split('/')[2]);
    expect(ran.out).not.toContain('SECRET');
    expect(readFileSync(join(at.root, 'a'), 'utf8')).toBe('a\n');
  });

  test('sees no secrets in a root that is the home directory, and cannot plant any', async () => {
    const at = new Place();
    at.write('home/.aws/credentials', 'SECRET');
    at.write('home/.bashrc', 'as it was\n');
    const before = at.tree();
    const state = join(at.home, '.config/muster');
    const command = `cat .aws/credentials; for f in .bashrc .profile .aws/x .ssh/authorized_keys .config/muster/config.toml; do
      mkdir -p $(dirname $f) 2>/dev/null; { echo x >> $f; } 2>/dev/null; done; echo made > made`;
    const ran = await runIn(at.sandbox({ state }), command, { roots: [at.home] });
    expect(ran.out).not.toContain('SECRET');
    expect(at.tree().filter((name) => !name.startsWith('records'))).toEqual(
      [...before, 'home/made'].toSorted(),
    );
    expect(readFileSync(join(at.home, '.bashrc'), 'utf8')).toBe('as it was\n');
  });

  test('works with a large environment, and from a deleted directory', async () => {
    const at = new Place();
    const large = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`VARIABLE_${index}`, 'x'.repeat(4000)]),
    );
    const options = { roots: [at.root], env: large };
    const ran = await runIn(at.sandbox(), 'echo ${#VARIABLE_199}', options);
    expect([ran.code, ran.out]).toEqual([0, '4000\n']);
    const gone = await runIn(at.sandbox(), 'pwd', { ...options, cwd: join(at.root, 'gone') });
    expect([gone.code, gone.out]).toEqual([1, '']);
    expect(gone.report).toMatch(/^bwrap: Can't chdir/);
    expect(readdirSync(at.root)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)('works for a normal user, too', () => {
    const at = new Place();
    at.write('home/.ssh/id', 'SECRET');
    execFileSync('chown', ['-R', '65534:65534', at.base]);
    const script = `
      import { openSandbox } from ${JSON.stringify(OPEN_SANDBOX)};
      import { spawnProcessGroup } from ${JSON.stringify(PROCESSES)};
      import { text } from 'node:stream/consumers';
      const [home, root] = process.argv.slice(1);
      const hostPaths = { homes: [home], stateDirectories: [], runtimeDirectories: [], sockets: [] };
      const sandbox = openSandbox({ kind: 'auto', platform: 'linux', path: '', roots: [root], hostPaths, records: null });
      console.log(JSON.stringify(await sandbox.state()));
      const { file, args, env, startCheck } = sandbox.confine({ argv: ['/bin/bash', '-c', 'id -u; echo a > a && cat a; echo x > .npmrc; cat ' + home + '/.ssh/id; touch /var/tmp/x && echo wrote'], cwd: root, env: { PATH: '/usr/bin:/bin' }, confinement: { access: 'workspace', roots: [root], network: false }, stderr: 'command' });
      process.stdout.write(await text(spawnProcessGroup(file, args, { cwd: root, env, startCheck }).stdout));`;
    const user = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath];
    const out = execFileSync(
      'setpriv',
      [...user, '--input-type=module', '-e', script, at.home, at.root],
      {
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin' },
        cwd: at.root,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    expect(out).toBe('{"on":true,"kind":"bwrap"}\n65534\na\n');
  });
});

/**
 * Starts a server in the sandbox, asks it from there, and prints who reaches it. Another sandbox is laid
 * where a socket of this machine, which is hidden by a mount, is gone by then.
 */
const ASK_FROM_BESIDE = `
  import { openSandbox } from ${JSON.stringify(OPEN_SANDBOX)};
  import { spawnProcessGroup } from ${JSON.stringify(PROCESSES)};
  import { once } from 'node:events';
  import { text } from 'node:stream/consumers';
  const [root, node] = process.argv.slice(1);
  const hostPaths = { homes: [root], stateDirectories: [], runtimeDirectories: [], sockets: [] };
  const sandbox = openSandbox({ kind: 'auto', platform: 'linux', path: '', roots: [], hostPaths, records: null });
  await sandbox.state();
  const confine = (access, loopback, ...argv) => sandbox.confine({ argv, cwd: root, env: { PATH: '/usr/bin:/bin' }, confinement: { access, roots: [root], network: false }, stderr: 'command', ...loopback });
  const leave = await sandbox.useLoopback('one');
  const serve = "require('net').createServer((s) => s.end('hello')).listen(8080, '127.0.0.1', () => console.log('up'))";
  const isLaid = (said) => !said.startsWith("bwrap: Can't create file");
  const start = async (tries) => {
    const { file, args, env, startCheck } = confine('workspace', { loopback: 'one' }, node, '-e', serve);
    const server = spawnProcessGroup(file, args, { cwd: root, env, startCheck });
    let said = '';
    server.stderr.on('data', (chunk) => (said += chunk));
    const isUp = await Promise.race([once(server.stdout, 'data').then(() => true), once(server.stdout, 'close').then(() => false)]);
    if (isUp) return server;
    if (tries === 1 || isLaid(said)) throw new Error('the server has ended: ' + said);
    return await start(tries - 1);
  };
  const server = await start(${MAX_ATTEMPTS});
  const ask = async (access, loopback, tries = ${MAX_ATTEMPTS}) => {
    const { file, args, env, startCheck } = confine(access, loopback, '/bin/bash', '-c', 'id -u; exec 3<>/dev/tcp/127.0.0.1/8080 && cat <&3');
    const group = spawnProcessGroup(file, args, { cwd: root, env, startCheck });
    const [stdout, stderr] = await Promise.all([text(group.stdout), text(group.stderr)]);
    return tries === 1 || isLaid(stderr) ? stdout : ask(access, loopback, tries - 1);
  };
  const reached = [await ask('workspace', { loopback: 'one' }), await ask('workspace', { loopback: 'two' }), await ask('read-only', {})];
  await server.end({ graceMs: 0 });
  leave();
  reached.push(await ask('workspace', { loopback: 'one' }));
  console.log(JSON.stringify(reached));`;

describe.runIf(HAS_BUBBLEWRAP && needs('nsenter', 'util-linux'))('a shared loopback', () => {
  const users = process.getuid?.() === 0 ? [0, 65534] : [process.getuid?.() ?? 0];
  test.each(users)('can be used by commands with its key alone, as user %d', (uid) => {
    const at = new Place();
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${uid}:${uid}`, at.base]);
    const become =
      process.getuid?.() === uid
        ? []
        : ['setpriv', '--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups'];
    const [file = '', ...args] = [...become, process.execPath, '--input-type=module', '-e'];
    const out = execFileSync(file, [...args, ASK_FROM_BESIDE, at.root, at.node()], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
      cwd: at.root,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    expect(JSON.parse(out)).toEqual([`${uid}\nhello`, `${uid}\n`, `${uid}\n`, `${uid}\n`]);
  });
});
