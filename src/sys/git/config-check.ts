import { join } from 'node:path';
import { listNames } from '../../base/text.ts';
import { parseGitConfig } from './config-file.ts';
import { readGitFile } from './read-git-file.ts';
import type { Repository } from './repository.ts';

const MAX_CONFIG_BYTES = 256 * 1024;

/**
 * Settings of a repository that name no program and no other file or location, as `section.key`. Any other setting
 * could make even a read-only git command run a program.
 */
const HARMLESS_SETTINGS: ReadonlySet<string> = new Set(
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

/** The text that is returned instead of the name of a setting if a file is too large or not regular. */
const UNREADABLE = 'a configuration that cannot be read';

/**
 * Returns a setting of a repository's own configuration that may run a program; undefined if there is none.
 * `alsoHarmless` are further settings that cannot affect the commands to be run, as `section.key`.
 */
export function findUnsafeSetting(
  { gitDirectory, commonDirectory }: Repository,
  alsoHarmless: ReadonlySet<string> = new Set(),
): string | undefined {
  const files = [join(commonDirectory, 'config'), join(gitDirectory, 'config.worktree')];
  const isHarmless = (name: string): boolean =>
    HARMLESS_SETTINGS.has(name) || alsoHarmless.has(name);
  for (const file of files) {
    const content = readGitFile(file, MAX_CONFIG_BYTES);
    if (content === 'missing') continue;
    // If the file cannot be read, its settings are not known and count as unsafe.
    const found =
      content === null ? UNREADABLE : findUnsafeName(content.toString('utf8'), isHarmless);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Settings that git commands add or change in daily work, and that may therefore be added. */
const ADDABLE_SETTINGS: ReadonlySet<string> = new Set([
  ...listNames('submodule.url submodule.active submodule.branch'),
  ...HARMLESS_SETTINGS,
]);
/**
 * Settings that contain the URL of a remote or submodule. They may be added, but an existing value may not be changed.
 */
const DESTINATION_SETTINGS = new Set(['remote.url', 'submodule.url']);
/**
 * Settings that redirect the fetches or pushes of a remote or branch. They may be set only for a new remote or branch:
 * one that did not have the key in the value of this map before.
 */
const REDIRECTING_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['remote.pushurl', 'url'],
  ['branch.remote', 'remote'],
  ['branch.pushremote', 'remote'],
]);
/** Matches `TRANSPORT::ADDRESS`, which makes git run the program of that transport. */
const TRANSPORT = /^\s*[\w-]+::/;
/** Matches the value of a branch setting that names a location instead of a remote. */
const LOCATION = /[/:\\]/;

/**
 * Tells whether a changed configuration file only adds settings that name no program and redirect no existing remote
 * or branch. `mayBeTree` tells whether a path is allowed as the value of `core.worktree`. Default: no path is.
 */
export function addsOnlyHarmlessSettings(
  before: Buffer,
  after: Buffer,
  mayBeTree: (path: string) => boolean = () => false,
): boolean {
  const [settingsBefore, settingsAfter] = [before, after].map((content) =>
    parseGitConfig(content.toString('utf8')),
  );
  if (
    settingsBefore === undefined ||
    settingsBefore === null ||
    settingsAfter === undefined ||
    settingsAfter === null
  )
    return false;
  const known = new Set(settingsBefore.map(({ name, value }) => `${name}=${value}`));
  const names = new Set(settingsBefore.map(({ name }) => name));
  return settingsAfter.every(({ name, value }) => {
    if (known.has(`${name}=${value}`)) return true;
    const [section, key] = [name.slice(0, name.indexOf('.')), name.slice(name.lastIndexOf('.'))];
    const short = `${section}${key}`;
    if (name === 'core.worktree') return mayBeTree(value ?? '');
    if (!ADDABLE_SETTINGS.has(short) || TRANSPORT.test(value ?? '')) return false;
    const redirectedKey = REDIRECTING_SETTINGS.get(short);
    if (section === 'branch' && redirectedKey !== undefined && LOCATION.test(value ?? ''))
      return false;
    if (redirectedKey !== undefined)
      return !names.has(`${name.slice(0, -key.length)}.${redirectedKey}`);
    return !DESTINATION_SETTINGS.has(short) || !names.has(name);
  });
}

function findUnsafeName(text: string, isHarmless: (name: string) => boolean): string | undefined {
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
