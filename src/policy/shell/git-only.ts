import { findDoubt, type ParsedShellLine, type SimpleCommand } from './parsed-line.ts';

/** Programs that may be combined with git in one line: they change no file, whatever their arguments are. */
const BESIDE = new Set('cd echo pwd true : cat cut grep head tail tr wc'.split(' '));
/** Commands that change a working tree or the settings of a repository, and run nothing that an argument names. */
const VERBS = new Set(
  [
    'add branch checkout cherry-pick clean commit config diff fetch log merge mv pull push rebase remote',
    'reset restore revert rm show sparse-checkout stash status submodule switch tag worktree',
  ].flatMap((names) => names.split(' ')),
);
/** `submodule foreach` runs a command of its own. */
const SUBMODULE_VERBS = new Set(
  'absorbgitdirs add deinit init set-branch set-url status summary sync update'.split(' '),
);
/** Long options by which git is told of a program or of another configuration. */
const RUNNING = [
  'exec',
  'upload-pack',
  'receive-pack',
  'template',
  'config',
  'ext-diff',
  'textconv',
];
/** Settings that say nothing of programs. */
const SETTINGS =
  /^(?:user\.(?:name|email)|commit\.gpgsign|init\.defaultbranch|advice\..*|protocol\.file\.allow)$/i;
/** The repository of a push that is not one of the configured remotes. */
const PLACE = /^[./~]|:\/\/|^[^/]*:|\\/;

/**
 * Whether nothing but git runs: every simple command is one of git that runs no program that its arguments
 * name, or changes nothing. Then a file that is protected from commands is changed by git alone, which can be
 * checked afterwards. What the repository makes git run is not looked at. Pure.
 */
export function runsOnlyGit(reading: ParsedShellLine): boolean {
  if (findDoubt(reading) !== undefined) return false;
  const { commands } = reading;
  const has = (verb: string): boolean =>
    commands.some(({ words }) => words.some(({ value }) => value === verb));
  // The settings of a new submodule are not looked at afterwards.
  if (has('submodule') && has('config')) return false;
  return commands.every(isGitOrHarmless) && has('git');
}

/** The same of a program with its arguments, which no shell reads. */
export function isGitOnlyCommand([program, ...args]: readonly string[]): boolean {
  return program === 'git' && isHarmlessGit(args);
}

function isGitOrHarmless({ words, hasAssignments, isOpenEnded }: SimpleCommand): boolean {
  const values = words.map(({ value }) => value);
  if (hasAssignments || isOpenEnded || !isLiteral(values)) return false;
  return BESIDE.has(values[0] ?? '') || isGitOnlyCommand(values);
}

function isLiteral(values: readonly (string | null)[]): values is readonly string[] {
  return values.every((value) => value !== null);
}

function isHarmlessGit(args: readonly string[]): boolean {
  const at = verbAt(args);
  const verb = at === null ? undefined : args[at];
  if (at === null || verb === undefined || !VERBS.has(verb)) return false;
  const rest = args.slice(at + 1);
  if (rest.some((word) => namesProgram(word, verb))) return false;
  const first = rest.find((word) => !word.startsWith('-')) ?? '';
  if (verb === 'submodule') return SUBMODULE_VERBS.has(first);
  // Both could name a commit of a command as that of a remote.
  if (verb === 'fetch' || verb === 'pull') return !rest.some((word) => word.includes(':'));
  // What receives a push runs hooks of its own; those of configured remotes are looked at.
  return verb !== 'push' || (!PLACE.test(first) && !rest.some(leadsElsewhere));
}

/** Options of a push that name a repository, or have a word of their own after them, and what is no branch or tag. */
function leadsElsewhere(word: string): boolean {
  return /^-[a-z]*o|^--(?:rep|pus|recu)|remotes/.test(word);
}

/** Returns the index of git's subcommand; null if an option before it may change which programs git runs. */
function verbAt(args: readonly string[]): number | null {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (!word.startsWith('-')) return at;
    if (word === '-C') at += 1;
    else if (word === '-c') {
      at += 1;
      const [name = ''] = (args[at] ?? '').split('=', 1);
      if (!SETTINGS.test(name)) return null;
    } else if (word !== '--no-pager' && word !== '-P') return null;
  }
  return null;
}

/** Git takes any beginning of a long option that fits no other. */
function namesProgram(word: string, verb: string): boolean {
  if (verb === 'rebase' && /^-[a-z]*x/.test(word)) return true;
  const [name = ''] = word.split('=', 1);
  return /^--[a-z]/.test(name) && RUNNING.some((option) => option.startsWith(name.slice(2)));
}
