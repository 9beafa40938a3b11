import { relative } from 'node:path';
import { isInside } from './call.ts';

/**
 * What a workspace holds that makes programs run or changes what Muster may do (SECURITY "Files"): a
 * write to it is asked of a person in every mode. Names count at any depth, as a file or a directory.
 */
const PROTECTED_NAMES: ReadonlySet<string> = new Set(
  [
    '.git .gitmodules .gitattributes .gitconfig .husky .hg',
    '.muster .gen .claude .agents .mcp.json',
    '.vscode .idea .devcontainer .ripgreprc',
    '.envrc .npmrc .pnpmfile.cjs .yarnrc .yarnrc.yml .yarnrc.yaml',
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile',
    '.zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .inputrc',
  ].flatMap((names) => names.split(' ')),
);

/** Code points that some file systems ignore in names. */
const IGNORED_IN_NAMES = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** Endings that some file systems drop. */
const DROPPED_AT_THE_END = /[. ]+$/;

/** Where a path is judged; all absolute and real. */
export interface ProtectionPlace {
  readonly roots: readonly string[];
  /** Muster's own configuration and data. */
  readonly stateDirectories: readonly string[];
}

/**
 * Whether writing to a path (absolute; test it as asked and as it really is) is asked of a person in
 * every mode. Of a path in a root only what is below the root counts: where the user put the workspace
 * is the user's choice.
 */
export function isProtectedPath(path: string, place: ProtectionPlace): boolean {
  if (place.stateDirectories.some((directory) => isInside(directory, path))) return true;
  const root = place.roots.find((each) => isInside(each, path));
  const below = root === undefined ? path : relative(root, path);
  return below.split('/').some((name) => PROTECTED_NAMES.has(foldName(name)));
}

/** A name as the most forgiving file system compares it. */
function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(IGNORED_IN_NAMES, '')
    .toUpperCase()
    .toLowerCase()
    .replace(DROPPED_AT_THE_END, '');
}
