import { listNames } from '../../base/text.ts';

/**
 * Files and directories of a workspace that make programs run by themselves, or that change the rights of an agent.
 * The entries are lower-case names or partial paths. An entry applies at any depth, to a file or to a directory with
 * its content. Both the decisions about tool calls and the sandbox, which mounts the entries read-only, use this list.
 *
 * Some files are left out because they act only when somebody builds, runs or pushes, and changing them is
 * daily work: `package.json`, Makefiles, `.github/workflows` and other CI files. Context files (AGENTS.md,
 * CLAUDE.md, GEMINI.md and similar) are left out too: their content is marked as data and grants nothing.
 */
export const PROTECTED_PATHS: readonly string[] = [
  // Version control, and the programs that it runs. Commands may write to `.git` except for the paths below.
  ...listNames('.git .gitmodules .gitattributes .gitconfig .config/git'),
  // Usual directories for `core.hooksPath`, which is mostly set by hand after cloning. Names without a dot are
  // also used for ordinary sources. They are protected if a repository's configuration names them
  // (control-paths.ts).
  ...listNames(`
    .githooks .git-hooks .hooks .husky .hg .hgrc .svn .jj .pre-commit-config.yaml
    .pre-commit-config.yml .pre-commit-hooks.yaml .lefthook .lefthook.yml .lefthook.yaml
    lefthook.yml lefthook.yaml lefthook-local.yml .overcommit.yml .simple-git-hooks.json
    .simple-git-hooks.js .simple-git-hooks.cjs
  `),
  // Agents: definitions, skills, hooks, servers, settings.
  ...listNames(`
    .muster .gen .claude .claude.json .claude-plugin .agents .agent .mcp.json subagent.md
    .github/agents .github/chatmodes .github/hooks .github/skills .copilot .opencode
    .config/opencode opencode.json opencode.jsonc .gemini .qwen .codex .cursor .factory .kiro
    .pi .goose .config/goose .roo .roomodes .cline .clinerules .kilocode .kilocodemodes
    .windsurf .continue .continuerc.json .augment .amazonq .amp .crush .crush.json crush.json
    .junie .trae .tabnine .aider.conf.yml
  `),
  // Editors and debuggers.
  ...listNames(`
    .vscode .idea .fleet .zed .devcontainer .devcontainer.json .vimrc .gvimrc .exrc .nvimrc
    .nvim.lua .lvimrc .emacs .emacs.d .dir-locals.el .gdbinit .lldbinit
  `),
  // Shells, and files that they load when a directory is entered.
  ...listNames(`
    .envrc .direnvrc .autoenv .mise.toml mise.toml .mise .bashrc .bash_profile .bash_login
    .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc
    .cshrc .tcshrc .login .xonshrc .inputrc .config/fish .config/nushell .tmux.conf .screenrc
    .xprofile .xinitrc .xsession .pam_environment .config/autostart .config/systemd
    library/launchagents
  `),
  // Package managers and tools that read settings from the directory in which they are started.
  ...listNames(`
    .npmrc .pnpmfile.cjs .pnpmfile.mjs .yarnrc .yarnrc.yml .yarnrc.yaml .yarn/plugins
    .yarn/releases bunfig.toml .cargo/config .cargo/config.toml .mvn .ripgreprc .curlrc .wgetrc
    .psqlrc .sqliterc .irbrc .pryrc .pdbrc .rprofile sitecustomize.py usercustomize.py
  `),
];

/** Endings of names that are protected in the same way. */
export const PROTECTED_ENDINGS: readonly string[] = ['.code-workspace'];

const NAMES: ReadonlySet<string> = new Set(PROTECTED_PATHS);

/** Tells whether a name at the top of a workspace is protected, in any letter case. */
export function isProtectedName(name: string): boolean {
  const folded = name.toLowerCase();
  return NAMES.has(folded) || PROTECTED_ENDINGS.some((ending) => folded.endsWith(ending));
}
