import { join } from 'node:path';
import { readGitFile } from './read-git-file.ts';
import type { Repository } from './repository.ts';

const MAX_BYTES = 256 * 1024;

/**
 * Settings of a repository that name no program, no other file and no other place, as `section.key`. Whatever
 * else stands in its configuration could make a git command that only looks run something.
 */
const HARMLESS: ReadonlySet<string> = new Set(
  [
    'core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase',
    'core.precomposeunicode core.symlinks core.autocrlf core.eol core.safecrlf core.abbrev',
    'core.quotepath core.longpaths core.untrackedcache',
    'remote.url remote.fetch remote.pushurl remote.tagopt remote.prune remote.gh-resolved',
    'branch.remote branch.merge branch.rebase branch.description branch.pushremote',
    'branch.vscode-merge-base branch.gh-merge-base branch.autosetuprebase',
    'user.name user.email user.signingkey init.defaultbranch pull.rebase pull.ff',
    'push.default push.autosetupremote fetch.prune merge.conflictstyle merge.ff gc.auto',
    'commit.gpgsign tag.gpgsign lfs.repositoryformatversion',
  ].flatMap((names) => names.split(' ')),
);

const SECTION = /^\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)$/;
const KEY = /^([A-Za-z][\w-]*)\s*(?:=.*)?$/;

/** Stands for the settings of a file that is too large, or none. */
const UNREADABLE = 'a configuration that can not be read';

/**
 * A setting of a repository's own configuration that may run a program; undefined: none does.
 * `alsoHarmless`: what can do nothing to the commands that are to be run, as `section.key`.
 */
export function unsafeSetting(
  { gitDirectory, commonDirectory }: Repository,
  alsoHarmless: ReadonlySet<string> = new Set(),
): string | undefined {
  const files = [join(commonDirectory, 'config'), join(gitDirectory, 'config.worktree')];
  const isHarmless = (name: string): boolean => HARMLESS.has(name) || alsoHarmless.has(name);
  for (const file of files) {
    const content = readGitFile(file, MAX_BYTES);
    if (content === 'missing') continue;
    // Nobody knows what git would read there.
    const found = content === null ? UNREADABLE : unsafeIn(content.toString('utf8'), isHarmless);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unsafeIn(text: string, isHarmless: (name: string) => boolean): string | undefined {
  let section = '';
  for (const line of text.split('\n')) {
    let rest = line.trim();
    const header = SECTION.exec(rest);
    if (header !== null) {
      section = (header[1] ?? '').toLowerCase();
      rest = header[2] ?? '';
    }
    if (rest === '' || /^[#;]/.test(rest)) continue;
    const key = KEY.exec(rest)?.[1];
    const name = key === undefined ? rest : `${section}.${key.toLowerCase()}`;
    if (!isHarmless(name)) return name;
  }
  return undefined;
}
