import type { Group } from './commands.ts';

const REPOSITORY = `git init -q -b main . && mkdir src && printf 'one\\ntwo\\n' > src/a.txt && echo b > b.txt
git add -A && git commit -qm one && git checkout -qb side && echo '* text=auto' > .gitattributes && echo c > c.txt
mkdir .vscode && echo '{}' > .vscode/settings.json && git add -A && git commit -qm two && git checkout -q main
git init -q --bare remote.git && echo remote.git >> .git/info/exclude && git remote add origin ./remote.git
git push -q origin main side`;

export const GIT_GROUPS: readonly Group[] = [
  {
    title: 'git',
    prepare: REPOSITORY,
    commands: [
      'git status --short',
      'echo more >> src/a.txt && git add -A && git commit -qm three',
      'git checkout -qb feature',
      'git switch -q main',
      'git merge -q -m merged side',
      'git switch -q feature && git rebase -q main',
      'echo x > x.txt && git add x.txt && git stash -q',
      'git stash pop -q',
      'git commit -qam four',
      'git push -q -u origin feature',
      'git fetch -q origin',
      'git pull -q --rebase',
      'git tag -a v1 -m v1 && git push -q origin v1',
      'git switch -q main && git cherry-pick feature',
      'git revert --no-edit HEAD',
      'git checkout -q HEAD~1 && git checkout -q main',
      'git reset -q --hard origin/main',
      'git checkout -q side && git checkout -q main',
      'git mv b.txt d.txt && git rm -q --cached src/a.txt',
      'git restore --staged . && git restore .',
      'git clean -qfd',
      'git log --oneline --all | wc -l && git diff --stat side && git blame -s src/a.txt',
      'git branch -m feature other && git branch -d side',
      'git remote add up https://example.test/x.git && git remote -v',
      'git gc -q && git fsck',
    ],
  },
  {
    title: 'git in a subdirectory',
    prepare: `${REPOSITORY} && mkdir -p pkg/a && echo 1 > pkg/a/f && git add pkg && git commit -qm pkg`,
    cwd: 'pkg/a',
    commands: [
      'echo 2 >> f && git commit -qam two',
      'git checkout -qb sub && echo 3 >> f && git stash -q && git stash pop -q',
      'git log --format=%s -2 && git diff --stat',
    ],
  },
  {
    title: 'git in a linked working tree',
    prepare: `mkdir main && cd main && ${REPOSITORY} && git worktree add -q ../tree`,
    cwd: 'tree',
    commands: [
      'echo 2 >> b.txt && git commit -qam two',
      'git checkout -qb linked && git merge -q -m merged side',
      'git rebase -q main && git worktree list | wc -l',
    ],
  },
  {
    title: 'git with a submodule',
    prepare: `${REPOSITORY} && git init -q library && (cd library && echo 1 > f && git add -A && git commit -qm lib)
git -c protocol.file.allow=always submodule --quiet add ./library sub && git commit -qm sub`,
    commands: [
      'git submodule update --init',
      'cd sub && echo 2 >> f && git commit -qam two',
      'git submodule status | cut -c1,42- && git add sub && git commit -qm pointer',
      "git submodule foreach --quiet 'git log --format=%s -1'",
    ],
  },
  {
    title: 'git with hooks of the user',
    prepare: `${REPOSITORY} && printf '#!/bin/sh\\necho "$(date +%s)" > /dev/null; echo hooked >> hooked.txt\\n' > .git/hooks/pre-commit
printf '#!/bin/sh\\ngrep -q good "$1"\\n' > .git/hooks/commit-msg && chmod +x .git/hooks/pre-commit .git/hooks/commit-msg`,
    commands: [
      'echo 2 >> b.txt && git commit -qam "a good one"',
      'echo 3 >> b.txt && git commit -qam bad',
      'git checkout -qb hooked && cat hooked.txt',
    ],
  },
];
