/**
 * Names that a command can't make at the top of a root where they are missing: what
 * some program obeys without being asked. Each costs a command a directory and a mount, so that it is not
 * the whole list of `protected-names.ts`: of that the rest is held where it is there.
 */
export const ABSENT_NAMES: readonly string[] = [
  '.git .gitmodules .gitattributes .gitconfig .husky .hg',
  '.muster .gen .claude .agents .mcp.json',
  '.vscode .idea .devcontainer .ripgreprc',
  '.envrc .npmrc .pnpmfile.cjs .yarnrc .yarnrc.yml .yarnrc.yaml',
  '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile',
  '.zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .inputrc',
].flatMap((names) => names.split(' '));

/**
 * By the lock file of a package manager: the names of which it expects a file, and ends where it finds a
 * directory. In its projects they are left free; they act only where it runs, as `package.json` does.
 */
export const NAMES_IN_USE: ReadonlyMap<string, readonly string[]> = new Map([
  ['pnpm-lock.yaml', ['.pnpmfile.cjs']],
  ['yarn.lock', ['.npmrc', '.yarnrc', '.yarnrc.yml']],
]);
