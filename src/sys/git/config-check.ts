import { join } from 'node:path';
import { listNames } from '../../base/text.ts';
import { parseGitConfig } from './config-file.ts';
import { readGitFile } from './read-git-file.ts';
import type { Repository } from './repository.ts';

const MAX_BYTES = 256 * 1024;

/**
 * Settings of a repository that name no program and no other file or location, as `section.key`. Any other
 * setting could make even a read-only git command run something.
 */
const HARMLESS: ReadonlySet<string> = new Set(
  listNames(`
    core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase
    core.precomposeunicode core.symlinks core.autocrlf core.eol core.safecrlf core.abbrev
    core.quotepath core.longpaths core.untrackedcache remote.url remote.fetch remote.pushurl
    remote.tagopt remote.prune remote.gh-resolved branch.remote branch.merge branch.rebase
    branch.description branch.pushremote branch.vscode-merge-base branch.gh-merge-base
    branch.autosetuprebase user.name user.email user.signingkey init.defaultbranch pull.rebase
    pull.ff push.default push.autosetupremote fetch.prune merge.conflictstyle merge.ff gc.auto
    commit.gpgsign tag.gpgsign lfs.repositoryformatversion
  `),
);

const SECTION = /^\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*(.*)$/;
const KEY = /^([A-Za-z][\w-]*)\s*(?:=.*)?$/;

/** The name that stands for the settings of a file that is too large or not regular. */
const UNREADABLE = 'a configuration that can not be read';

/**
 * Returns a setting of a repository's own configuration that may run a program; undefined if there is none.
 * `alsoHarmless`: further settings that cannot affect the commands to be run, as `section.key`.
 */
export function findUnsafeSetting(
  { gitDirectory, commonDirectory }: Repository,
  alsoHarmless: ReadonlySet<string> = new Set(),
): string | undefined {
  const files = [join(commonDirectory, 'config'), join(gitDirectory, 'config.worktree')];
  const isHarmless = (name: string): boolean => HARMLESS.has(name) || alsoHarmless.has(name);
  for (const file of files) {
    const content = readGitFile(file, MAX_BYTES);
    if (content === 'missing') continue;
    // It is not known which settings git would read there.
    const found = content === null ? UNREADABLE : unsafeIn(content.toString('utf8'), isHarmless);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Settings that git commands add or change in daily work. */
const DAILY: ReadonlySet<string> = new Set([
  ...listNames('submodule.url submodule.active submodule.branch'),
  ...HARMLESS,
]);
/** Settings that name the destination of work. New ones may be added, but none may be changed. */
const DESTINATIONS = new Set(['remote.url', 'submodule.url']);
/** Settings that redirect the work of a remote or branch. They may be set only for a new remote or branch. */
const DIVERSIONS: ReadonlyMap<string, string> = new Map([
  ['remote.pushurl', 'url'],
  ['branch.remote', 'remote'],
  ['branch.pushremote', 'remote'],
]);
/** Matches `TRANSPORT::ADDRESS`, which makes git run the program of that transport. */
const TRANSPORT = /^\s*[\w-]+::/;
/** A branch may name a location instead of a remote. */
const PLACE = /[/:\\]/;

/**
 * Tells whether a changed configuration file adds only settings that name no program and redirect nothing.
 * `mayBeTree` tells whether it may name this working tree. Default: none.
 */
export function addsOnlyHarmlessSettings(
  before: Buffer,
  after: Buffer,
  mayBeTree: (path: string) => boolean = () => false,
): boolean {
  const [was, is] = [before, after].map((content) => parseGitConfig(content.toString('utf8')));
  if (was === undefined || was === null || is === undefined || is === null) return false;
  const known = new Set(was.map(({ name, value }) => `${name}=${value}`));
  const names = new Set(was.map(({ name }) => name));
  return is.every(({ name, value }) => {
    if (known.has(`${name}=${value}`)) return true;
    const [section, key] = [name.slice(0, name.indexOf('.')), name.slice(name.lastIndexOf('.'))];
    const short = `${section}${key}`;
    if (name === 'core.worktree') return mayBeTree(value ?? '');
    if (!DAILY.has(short) || TRANSPORT.test(value ?? '')) return false;
    const diverted = DIVERSIONS.get(short);
    if (section === 'branch' && diverted !== undefined && PLACE.test(value ?? '')) return false;
    if (diverted !== undefined) return !names.has(`${name.slice(0, -key.length)}.${diverted}`);
    return !DESTINATIONS.has(short) || !names.has(name);
  });
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
