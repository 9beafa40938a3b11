import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeAsMuster } from '../../../src/sys/files/own-writes.ts';
import { ProtectedFileBackup } from '../../../src/sys/sandbox/cleanup/file-backup.ts';
import { FORGED, git, GIT, repository } from './forged-commits.ts';
import { HAS_BUBBLEWRAP, Place, runIn } from './support.ts';

const alone = (at: Place, command: string) =>
  runIn(at.sandbox(), command, { roots: [at.root], runsGitAlone: true });

describe.runIf(HAS_BUBBLEWRAP)('git alone', () => {
  test('restores the earlier state if it has created too much to be compared', async () => {
    const at = repository();
    const command = `head -c 9000000 /dev/zero > .vscode/big; echo evil > .vscode/settings.json
      echo evil > .vscode/tasks.json; git config core.fsmonitor evil`;
    await alone(at, command);
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('1');
    expect(git(at.root, 'config', '--local', '--list')).not.toContain('evil');
  });

  test.each([
    'git config core.worktree /',
    'git config remote.origin.pushurl https://evil.test/x',
    'git remote set-url --push origin https://evil.test/x',
    'git config branch.main.remote https://evil.test/x',
    'git config branch.main.pushRemote https://evil.test/x',
    'git config remote.x.url "git::ext::sh -c evil"',
  ])('keeps no setting that leads work elsewhere: %s', async (command) => {
    const at = repository();
    git(at.root, 'remote', 'add', 'origin', 'https://good.test/x');
    git(at.root, 'config', 'branch.main.remote', 'origin');
    git(at.root, 'config', 'branch.main.merge', 'refs/heads/main');
    const settings = readFileSync(join(at.root, '.git/config'), 'utf8');
    await alone(at, command);
    expect(readFileSync(join(at.root, '.git/config'), 'utf8')).toBe(settings);
  });

  test('leaves files that Muster itself wrote meanwhile', async () => {
    const at = repository();
    const file = join(at.root, '.vscode/settings.json');
    const running = alone(at, 'git log -1; sleep 1');
    await new Promise((resolve) => setTimeout(resolve, 400));
    changeAsMuster([file], () => writeFileSync(file, 'of the user'));
    await running;
    expect(readFileSync(file, 'utf8')).toBe('of the user');
  });

  test('does not mistake the work of another command for that of the user', async () => {
    const at = repository();
    const sandbox = at.sandbox();
    writeFileSync(join(at.root, '.vscode/settings.json'), 'of the user');
    const options = { roots: [at.root], runsGitAlone: true };
    await sandbox.state();
    const first = runIn(
      sandbox,
      'echo evil > .vscode/settings.json; echo evil > .vscode/tasks.json; sleep 1',
      options,
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    const second = runIn(sandbox, 'sleep 1.5', options);
    await Promise.all([first, second]);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('of the user');
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
  });

  test('restores the changes of the user that it has stashed', async () => {
    const at = repository();
    const sandbox = at.sandbox();
    writeFileSync(join(at.root, '.vscode/settings.json'), 'of the user');
    const options = { roots: [at.root], runsGitAlone: true };
    await runIn(sandbox, `${GIT} stash -q`, options);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('1');
    await runIn(sandbox, `${GIT} stash pop -q`, options);
    expect(readFileSync(join(at.root, '.vscode/settings.json'), 'utf8')).toBe('of the user');
  });

  test('reports files of the user that it has removed, and they are restored', async () => {
    const at = repository();
    at.write('work/.envrc', 'of the user');
    const places = {
      trees: [join(at.root, '.envrc')],
      configurations: [],
      links: [],
    };
    const opened = ProtectedFileBackup.create(places, at.records);
    git(at.root, 'clean', '-qfd');
    expect(await opened?.settle(() => Promise.resolve(new Set()))).toEqual({
      removed: [],
      fromCommits: [],
      putBack: [join(at.root, '.envrc')],
    });
    expect(readFileSync(join(at.root, '.envrc'), 'utf8')).toBe('of the user');
  });

  test('restores at the next start what it had changed when its owner was killed', async () => {
    const at = repository();
    const file = at.write('work/.vscode/settings.json', 'of the user');
    const sandbox = at.sandbox();
    await sandbox.state();
    sandbox.confine({
      argv: ['true'],
      cwd: at.root,
      env: {},
      confinement: { access: 'workspace', roots: [at.root], network: false, runsGitAlone: true },
      stderr: 'command',
    });
    const [record = ''] = readdirSync(at.records);
    renameSync(join(at.records, record), join(at.records, '4194304-1-abcdefghijkl'));
    writeFileSync(file, 'evil');
    at.write('work/.vscode/tasks.json', 'evil');
    git(at.root, 'config', 'core.fsmonitor', 'evil');
    await at.sandbox().state();
    expect(readFileSync(file, 'utf8')).toBe('of the user');
    expect(readdirSync(join(at.root, '.vscode'))).toEqual(['settings.json']);
    expect(git(at.root, 'config', '--local', '--list')).not.toContain('evil');
  });

  test('does not trust commits that it fetches from a repository of a command', async () => {
    const at = repository();
    const other = at.directory('other');
    git(other, 'clone', '-q', '--bare', at.root, 'x.git');
    git(at.root, 'remote', 'add', 'origin', join(other, 'x.git'));
    const sandbox = at.sandbox();
    const roots = [at.root];
    await runIn(
      sandbox,
      `git clone -q --bare . evil; cd evil; ${FORGED(['.npmrc'], 'refs/heads/x')}`,
      {
        roots,
      },
    );
    const fetch = `git config remote.e.url ./evil; git config remote.e.fetch "+refs/heads/*:refs/remotes/origin/*"
      git fetch -q e; git checkout -q origin/x -- .npmrc && cat .npmrc`;
    const ran = await runIn(sandbox, fetch, { roots, runsGitAlone: true });
    expect(ran.out).toContain('evil');
    expect(existsSync(join(at.root, '.npmrc'))).toBe(false);
  });
});
