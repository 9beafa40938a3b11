import { expect, test } from 'vitest';
import { isGitOnlyCommand, runsOnlyGit } from '../../../src/policy/shell/git-only.ts';
import { parseShellLine } from '../../../src/policy/shell/parse-line.ts';

test.each([
  'git checkout other',
  'git reset --hard main',
  'cd lib && git switch -c x && git commit -qam two',
  'git -C lib -c user.name=a -c user.email=a@b commit -m "a b"',
  'git --no-pager pull --rebase',
  'git submodule update --init --recursive',
  'git push -u origin main',
  'git config user.name me; git status',
  'git worktree remove ../x || true',
])('only git runs in %s', (line) => {
  expect(runsOnlyGit(parseShellLine(line))).toBe(true);
});

test.each([
  'echo x',
  'git checkout other && npm test',
  'git checkout $(cat name)',
  'git checkout other > log',
  'git checkout other; ./x',
  'GIT_DIR=x git checkout other',
  'git -c core.hooksPath=x checkout other',
  'git --exec-path=x checkout other',
  'git --git-dir x checkout other',
  'git rebase -x ./evil main',
  'git rebase -ix ./evil main',
  'git rebase --exec ./evil main',
  'git rebase --exe=./evil main',
  'git submodule foreach ./evil',
  'git submodule --quiet foreach ./evil',
  'git bisect run ./evil',
  'git fetch --upload-pack=./evil origin',
  'git pull --upl ./evil origin',
  'git push ./bare main',
  'git push ../bare main',
  'git push file:///bare main',
  'git push host:bare main',
  'git push --repo=./bare main',
  'git push -o x ./bare main',
  'git push self HEAD:refs/remotes/origin/x',
  'git fetch evil x:refs/remotes/origin/x',
  'git fetch --refmap=+refs/heads/*:refs/remotes/origin/* evil x',
  'git submodule update --init && git -C lib config core.fsmonitor evil',
  'git difftool -x ./evil',
  'git clone --config core.fsmonitor=x a b',
  'git filter-branch --tree-filter ./evil',
  'git x',
  'sudo git checkout other',
  'git checkout *',
])('something else runs, or may run, in %s', (line) => {
  expect(runsOnlyGit(parseShellLine(line))).toBe(false);
});

test('a program with its arguments is checked, too', () => {
  expect(isGitOnlyCommand(['git', 'checkout', 'a b'])).toBe(true);
  expect(isGitOnlyCommand(['git', 'rebase', '-x', './evil'])).toBe(false);
  expect(isGitOnlyCommand(['cat', 'x'])).toBe(false);
});
