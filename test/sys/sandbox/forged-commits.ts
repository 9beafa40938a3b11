import { execFileSync } from 'node:child_process';
import { Place } from './support.ts';

const AS_USER = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
export const GIT = `git ${AS_USER.join(' ')}`;

export function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...AS_USER, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository whose only commit has a protected file. */
export function repository(): Place {
  const at = new Place();
  git(at.root, 'init', '-q', '-b', 'main');
  at.write('work/a', '1');
  at.write('work/.vscode/settings.json', '1');
  git(at.root, 'add', '-A');
  git(at.root, 'commit', '-qm', 'one');
  return at;
}

/** Lines that make a commit of evil files without touching the working tree. */
export const FORGED = (names: readonly string[], ref: string): string =>
  [
    'export GIT_INDEX_FILE=$TMPDIR/i',
    'git read-tree HEAD',
    'b=$(echo evil | git hash-object -w --stdin)',
    ...names.map((name) => `git update-index --add --cacheinfo 100644,$b,${name}`),
    `c=$(echo x | ${GIT} commit-tree -p HEAD $(git write-tree))`,
    `git update-ref ${ref} $c`,
    'unset GIT_INDEX_FILE',
  ].join('\n');
