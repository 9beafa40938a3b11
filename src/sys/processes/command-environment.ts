import { delimiter, isAbsolute } from 'node:path';
import type { Environment } from '../env.ts';
import { buildGitEnvironment, type GitLimits } from '../git/git-environment.ts';
import { buildNetworkEnvironment } from './network-environment.ts';
import { UNATTENDED } from './unattended-environment.ts';

const PASSED_ON = new Set(['HOME', 'LANG', 'TMPDIR', 'USER', 'LOGNAME', 'TZ']);
/** Holds the id of the task that a process was started by. */
export const TASK_VARIABLE = 'MUSTER_TASK';
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Variables by which shells, loaders, git and rg run programs or read settings that no word of a command
 * names. What proves a command harmless relies on their absence. Who a commit is by is harmless.
 */
const STEERING =
  /^(?:BASH_.*|ENV|SHELLOPTS|BASHOPTS|PS4|IFS|CDPATH|GLOBIGNORE|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$).*|RIPGREP_CONFIG_PATH|LESSOPEN|LESSCLOSE|PAGER|MUSTER_.*)$/;

const NAME = /^[A-Za-z_]\w*$/;

/**
 * What a task may not set for its commands: where shells, loaders, runtimes, package managers and
 * clients look for programs, code and settings that they run, and what Muster itself sets. It can't be
 * whole, so setting any other is an effect all the same, and what was proved without one runs without it.
 */
const OF_THE_USER: readonly RegExp[] = [
  // The shell, and where it and all others look.
  /^(?:_.*|PATH|HOME|SHELL|USER|LOGNAME|TERM|TERMCAP|TERMINFO.*|TMP|TEMP|TMPDIR|PWD|OLDPWD|SHLVL|PS[0-9]|PROMPT_.*|HIST.*|INPUTRC|FIGNORE|FPATH|EXECIGNORE|POSIXLY_CORRECT|TIMEFORMAT|XDG_.*|ZDOTDIR)$/,
  // Loaders and the C library.
  /^(?:LD|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|GLIBC_.*|MALLOC_.*|TZDIR|RES_OPTIONS|HOSTALIASES|LOCALDOMAIN)$/,
  // Runtimes and compilers.
  /^(?:NODE_(?!ENV$).*|DENO_.*|BUN_.*|PYTHON(?!UNBUFFERED$|HASHSEED$|DONTWRITEBYTECODE$).*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|JDK_.*|CLASSPATH|PHP.*|LUA_.*|R_.*|DOTNET_.*|CORECLR_.*|COMPLUS_.*|GO(?:AUTH|BIN|CACHE|ENV|INSECURE|MODCACHE|NO.*|PATH|PRIVATE|PROXY|ROOT|SUMDB|TOOLCHAIN|TOOLDIR|VCS|WORK|.*FLAGS)|CGO_.*|ERL_.*|JULIA_.*|OPAM.*|STACK_.*|TS_NODE_.*|ELECTRON_.*|WINE.*|CC|CXX|CPP|AR|AS|GCC_.*|MAKE|MAKEFILES|CMAKE_.*|PKG_CONFIG.*|CARGO_.*|RUST(?!_LOG$|_BACKTRACE$).*)$/,
  // Test runners and build helpers.
  /^(?:PYTEST_.*|TOX_.*|CONFIG_SITE|CCACHE_.*|SCCACHE_.*|DISTCC_.*|VAGRANT_.*|HUSKY)$/,
  // Package managers.
  /^(?:COMPOSER.*|NPM_.*|YARN_.*|PNPM_.*|COREPACK_.*|PIP_.*|UV_.*|POETRY_.*|CONDA_.*|VIRTUAL_ENV|MAVEN_.*|MVN_.*|GRADLE_.*)$/,
  // Clients that run helpers, and whom they trust.
  /^(?:EDITOR|VISUAL|EXINIT|.*VIM(?:INIT|RC|RUNTIME)|EMACS.*|GDBINIT|MANOPT|TEXINPUTS|HG(?:EDITOR|MERGE|PLAIN.*|RCPATH)|GTK_.*|GIO_.*|BROWSER|.*PAGER|LESS.*|SSH_.*|SUDO_.*|DBUS_.*|GPG_.*|GNUPGHOME|AWS_.*|AZURE_.*|KUBE.*|DOCKER_.*|BUILDKIT_.*|HELM_.*|TF_.*|ANSIBLE_.*|PG.*|PSQL.*|MYSQL_.*|CURL_.*|WGETRC|NETRC|SSL_.*|OPENSSL_.*|SSLKEYLOGFILE|REQUESTS_CA_BUNDLE)$/,
  // Of whatever program.
  /(?:PATH|FLAGS|_PROXY|_OPTIONS|_(?:ADD)?OPTS|_HOME|_PRELOAD|_WRAPPER|_COMMAND|_CMD|_PROGRAM|_BIN|_EXECUTABLE|_CONFIG|_CONFIG_FILE|_EDITOR|_SHELL|_RSH|_SSH|_ASKPASS|_PLUGINS?|_MODULES|_HOOKS?)$/,
];

/** Whether a name is one that a shell takes for a variable. */
export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** Whether a task may set this variable for its own commands. Names count whatever their case. */
export function isSettableByTask(name: string): boolean {
  const upper = name.toUpperCase();
  return isPassableToCommands(upper) && !OF_THE_USER.some((names) => names.test(upper));
}

/** Whether a user may have this variable passed on (`sandbox.env`). */
export function isPassableToCommands(name: string): boolean {
  return isVariableName(name) && !STEERING.test(name);
}

export interface CommandVariables {
  /** Absent: it belongs to none. */
  readonly taskId?: string;
  /** Names of further variables that are passed on (`sandbox.env`). */
  readonly extraNames?: readonly string[];
  /** What the task has set for its commands (`mayBeSet`). */
  readonly taskVariables?: Readonly<Record<string, string>>;
  readonly git: GitLimits;
  /** Whether it can reach servers; undefined: that is not known. */
  readonly network?: boolean;
}

/**
 * The environment of a command: what a program needs to find its way and to do without a person, what the user
 * lists, and nothing else that could be a secret. `PATH` loses its relative entries, so that a file in the workspace cannot
 * take a program's place. `TASK_VARIABLE` lets a later run find what this one left behind.
 */
export function buildCommandEnvironment(
  own: Environment,
  { taskId, extraNames: further = [], taskVariables: set = {}, git, network }: CommandVariables,
): Environment {
  return {
    ...buildGitEnvironment(git),
    ...UNATTENDED,
    TERM: 'dumb',
    ...(network === undefined ? {} : buildNetworkEnvironment(own, network)),
    ...listPassedVariables(own, further),
    ...set,
    PATH: buildCommandPath(own),
    ...(taskId === undefined ? {} : { [TASK_VARIABLE]: taskId }),
  };
}

/** What of the user's own environment a command sees. */
export function listPassedVariables(
  own: Environment,
  further: readonly string[],
): Readonly<Record<string, string>> {
  const listed = new Set(further);
  const passed = Object.entries(own).flatMap(([name, value]) =>
    value !== undefined && (PASSED_ON.has(name) || name.startsWith('LC_') || listed.has(name))
      ? [[name, value] as const]
      : [],
  );
  return Object.fromEntries(passed);
}

/** Where a command's programs are looked for. */
export function buildCommandPath(own: Environment): string {
  const entries = (own['PATH'] ?? '').split(delimiter).filter((entry) => isAbsolute(entry));
  return entries.length === 0 ? DEFAULT_PATH : entries.join(delimiter);
}
