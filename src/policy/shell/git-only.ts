import { findDoubt, type ParsedShellLine, type SimpleCommand } from './parsed-line.ts';

/** Programs that may be combined with git in one line, because they change no file with any arguments. */
const HARMLESS_PROGRAMS = new Set('cd echo pwd true : cat cut grep head tail tr wc'.split(' '));
/**
 * Subcommands that change a working tree or the settings of a repository, and run no program that an argument names.
 */
const SUBCOMMANDS = new Set(
  [
    'add branch checkout cherry-pick clean commit config diff fetch log merge mv pull push rebase remote',
    'reset restore revert rm show sparse-checkout stash status submodule switch tag worktree',
  ].flatMap((names) => names.split(' ')),
);
/** Subcommands of `git submodule`, without `foreach`, which runs any command. */
const SUBMODULE_COMMANDS = new Set(
  'absorbgitdirs add deinit init set-branch set-url status summary sync update'.split(' '),
);
/** Long options that name a program or another configuration. */
const PROGRAM_OPTIONS = [
  'exec',
  'upload-pack',
  'receive-pack',
  'template',
  'config',
  'ext-diff',
  'textconv',
];
/** Settings that name no program. */
const HARMLESS_SETTINGS =
  /^(?:user\.(?:name|email)|commit\.gpgsign|init\.defaultbranch|advice\..*|protocol\.file\.allow)$/i;
/** Matches the address of a repository in a push that is not a configured remote. */
const REPOSITORY_ADDRESS = /^[./~]|:\/\/|^[^/]*:|\\/;

/**
 * Tells whether a line runs nothing but git: every simple command either changes nothing, or is a git command whose
 * arguments name no program to run. Then only git can change a file that is protected from commands, which can be
 * checked afterwards. Programs that the repository makes git run are not considered.
 */
export function runsOnlyGit(reading: ParsedShellLine): boolean {
  if (findDoubt(reading) !== undefined) return false;
  const { commands } = reading;
  const has = (verb: string): boolean =>
    commands.some(({ words }) => words.some(({ value }) => value === verb));
  // The settings of a new submodule are not checked after the command.
  if (has('submodule') && has('config')) return false;
  return commands.every(isGitOrHarmlessProgram) && has('git');
}

/**
 * Tells whether a program and its arguments, started without a shell, are a git command that `runsOnlyGit` would
 * accept.
 */
export function isGitOnlyCommand([program, ...args]: readonly string[]): boolean {
  return program === 'git' && isHarmlessGit(args);
}

function isGitOrHarmlessProgram({ words, hasAssignments, isOpenEnded }: SimpleCommand): boolean {
  const values = words.map(({ value }) => value);
  if (hasAssignments || isOpenEnded || !isLiteral(values)) return false;
  return HARMLESS_PROGRAMS.has(values[0] ?? '') || isGitOnlyCommand(values);
}

function isLiteral(values: readonly (string | null)[]): values is readonly string[] {
  return values.every((value) => value !== null);
}

function isHarmlessGit(args: readonly string[]): boolean {
  const index = findSubcommand(args);
  const subcommand = index === null ? undefined : args[index];
  if (index === null || subcommand === undefined || !SUBCOMMANDS.has(subcommand)) return false;
  const rest = args.slice(index + 1);
  if (rest.some((word) => namesProgram(word, subcommand))) return false;
  const first = rest.find((word) => !word.startsWith('-')) ?? '';
  if (subcommand === 'submodule') return SUBMODULE_COMMANDS.has(first);
  // With a refspec, `fetch` and `pull` could store a commit that a command created under a ref of a remote.
  if (subcommand === 'fetch' || subcommand === 'pull')
    return !rest.some((word) => word.includes(':'));
  // The repository that receives a push runs hooks of its own; those of configured remotes are checked.
  return (
    subcommand !== 'push' || (!REPOSITORY_ADDRESS.test(first) && !rest.some(namesOtherRepository))
  );
}

/** Tells whether a word of a push may select another repository or write refs of a remote. */
function namesOtherRepository(word: string): boolean {
  return /^-[a-z]*o|^--(?:rep|pus|recu)|remotes/.test(word);
}

/** Finds the index of git's subcommand. Returns null if an option before it may change which programs git runs. */
function findSubcommand(args: readonly string[]): number | null {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (!word.startsWith('-')) return at;
    if (word === '-C') at += 1;
    else if (word === '-c') {
      at += 1;
      const [name = ''] = (args[at] ?? '').split('=', 1);
      if (!HARMLESS_SETTINGS.test(name)) return null;
    } else if (word !== '--no-pager' && word !== '-P') return null;
  }
  return null;
}

/** Tells whether an option may name a program to run. Git accepts any unambiguous beginning of a long option. */
function namesProgram(word: string, subcommand: string): boolean {
  if (subcommand === 'rebase' && /^-[a-z]*x/.test(word)) return true;
  const [name = ''] = word.split('=', 1);
  return (
    /^--[a-z]/.test(name) && PROGRAM_OPTIONS.some((option) => option.startsWith(name.slice(2)))
  );
}
