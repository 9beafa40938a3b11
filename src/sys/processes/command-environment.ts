import { delimiter, isAbsolute } from 'node:path';
import { listNames } from '../../base/text.ts';
import type { Environment } from '../env.ts';
import { buildGitEnvironment, type GitLimits } from '../git/git-environment.ts';

/** The variable with the W3C trace context in which a program runs. */
export const TRACE_VARIABLE = 'TRACEPARENT';

/**
 * The variables that every command sees. The names of the locale categories are listed, because `ssh` is often set up to
 * pass on all variables that begin with `LC_`, so that people also use such names for keys.
 */
const PASSED_ON: ReadonlySet<string> = new Set([
  TRACE_VARIABLE,
  ...listNames(`
    HOME LANG TMPDIR USER LOGNAME TZ LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION
    LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME
  `),
]);
/** The variable that holds the id of the task that started a process. */
export const TASK_VARIABLE = 'MUSTER_TASK';
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Variables that make shells, loaders, git and rg run programs or read settings that the command line does not name.
 * The proof that a command is harmless relies on their absence. Variables for the author of a commit are harmless.
 */
const STEERING =
  /^(?:BASH_.*|ENV|SHELLOPTS|BASHOPTS|PS4|IFS|CDPATH|GLOBIGNORE|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$).*|RIPGREP_CONFIG_PATH|LESSOPEN|LESSCLOSE|PAGER|MUSTER_.*)$/;

const NAME = /^[A-Za-z_]\w*$/;

/**
 * Variables that a task must not set for its commands: Muster itself sets them, or they name programs, code and
 * settings that shells, loaders, runtimes, package managers and clients run or read. The list cannot be complete.
 * Setting any other variable therefore still counts as an effect, and a command that was proved harmless runs without
 * the task's variables.
 */
const RESERVED_VARIABLES: readonly RegExp[] = [
  // The shell, and the directories in which programs look for files.
  /^(?:_.*|PATH|HOME|SHELL|USER|LOGNAME|TERM|TERMCAP|TERMINFO.*|TMP|TEMP|TMPDIR|PWD|OLDPWD|SHLVL|PS[0-9]|PROMPT_.*|HIST.*|INPUTRC|FIGNORE|FPATH|EXECIGNORE|POSIXLY_CORRECT|TIMEFORMAT|XDG_.*|ZDOTDIR)$/,
  // Loaders and the C library.
  /^(?:LD|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|GLIBC_.*|MALLOC_.*|TZDIR|RES_OPTIONS|HOSTALIASES|LOCALDOMAIN)$/,
  // Runtimes and compilers.
  /^(?:NODE_(?!ENV$).*|DENO_.*|BUN_.*|PYTHON(?!UNBUFFERED$|HASHSEED$|DONTWRITEBYTECODE$).*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|JDK_.*|CLASSPATH|PHP.*|LUA_.*|R_.*|DOTNET_.*|CORECLR_.*|COMPLUS_.*|GO(?:AUTH|BIN|CACHE|ENV|INSECURE|MODCACHE|NO.*|PATH|PRIVATE|PROXY|ROOT|SUMDB|TOOLCHAIN|TOOLDIR|VCS|WORK|.*FLAGS)|CGO_.*|ERL_.*|JULIA_.*|OPAM.*|STACK_.*|TS_NODE_.*|ELECTRON_.*|WINE.*|CC|CXX|CPP|AR|AS|GCC_.*|MAKE|MAKEFILES|CMAKE_.*|PKG_CONFIG.*|CARGO_.*|RUST(?!_LOG$|_BACKTRACE$).*)$/,
  // Test runners and build helpers.
  /^(?:PYTEST_.*|TOX_.*|CONFIG_SITE|CCACHE_.*|SCCACHE_.*|DISTCC_.*|VAGRANT_.*|HUSKY)$/,
  // Package managers.
  /^(?:COMPOSER.*|NPM_.*|YARN_.*|PNPM_.*|COREPACK_.*|PIP_.*|UV_.*|POETRY_.*|CONDA_.*|VIRTUAL_ENV|MAVEN_.*|MVN_.*|GRADLE_.*)$/,
  // Clients that run helpers, and their certificates.
  /^(?:EDITOR|VISUAL|EXINIT|.*VIM(?:INIT|RC|RUNTIME)|EMACS.*|GDBINIT|MANOPT|TEXINPUTS|HG(?:EDITOR|MERGE|PLAIN.*|RCPATH)|GTK_.*|GIO_.*|BROWSER|.*PAGER|LESS.*|SSH_.*|SUDO_.*|DBUS_.*|GPG_.*|GNUPGHOME|AWS_.*|AZURE_.*|KUBE.*|DOCKER_.*|BUILDKIT_.*|HELM_.*|TF_.*|ANSIBLE_.*|PG.*|PSQL.*|MYSQL_.*|CURL_.*|WGETRC|NETRC|SSL_.*|OPENSSL_.*|SSLKEYLOGFILE|REQUESTS_CA_BUNDLE)$/,
  // Any program.
  /(?:PATH|FLAGS|_PROXY|_OPTIONS|_(?:ADD)?OPTS|_HOME|_PRELOAD|_WRAPPER|_COMMAND|_CMD|_PROGRAM|_BIN|_EXECUTABLE|_CONFIG|_CONFIG_FILE|_EDITOR|_SHELL|_RSH|_SSH|_ASKPASS|_PLUGINS?|_MODULES|_HOOKS?)$/,
];

/** Tells whether a shell accepts a name as the name of a variable. */
export function isVariableName(name: string): boolean {
  return NAME.test(name);
}

/** Tells whether a task may set this variable for its own commands. The case of the name does not matter. */
export function isSettableByTask(name: string): boolean {
  const upper = name.toUpperCase();
  return isPassableToCommands(upper) && !RESERVED_VARIABLES.some((names) => names.test(upper));
}

/** Tells whether a user may pass this variable on to commands (`sandbox.env`). */
export function isPassableToCommands(name: string): boolean {
  return isVariableName(name) && !STEERING.test(name);
}

/** The sources of a command's environment. */
export interface CommandVariables {
  /** The task that runs the command. Default: none. */
  readonly taskId?: string;
  /** Names of additional variables that are passed on (`sandbox.env`). */
  readonly extraNames?: readonly string[];
  /** Variables that the task has set for its commands (`isSettableByTask`). */
  readonly taskVariables?: Readonly<Record<string, string>>;
  /** The W3C trace context of the call that runs the command. Default: that of Muster's own environment. */
  readonly traceparent?: string;
  readonly git: GitLimits;
  /** True if the command can reach servers; undefined if that is not known. */
  readonly network?: boolean;
}

/**
 * Builds the environment of a command: the variables that a program needs to work without a person, the variables
 * that the user lists, and nothing else that could be a secret. Relative entries are removed from `PATH`, so that a
 * file in the workspace cannot be run in place of a program. `TASK_VARIABLE` lets a later run find processes that
 * this run left behind.
 */
export function buildCommandEnvironment(
  own: Environment,
  variables: CommandVariables,
): Environment {
  const { taskId, extraNames: further = [], taskVariables: set = {}, git, network } = variables;
  const { traceparent } = variables;
  return {
    ...buildGitEnvironment(git),
    ...UNATTENDED,
    TERM: 'dumb',
    ...(network === undefined ? {} : buildNetworkEnvironment(own, network)),
    ...listPassedVariables(own, further),
    ...set,
    PATH: buildCommandPath(own),
    ...(taskId === undefined ? {} : { [TASK_VARIABLE]: taskId }),
    ...(traceparent === undefined ? {} : { [TRACE_VARIABLE]: traceparent }),
  };
}

/** Selects the variables of the user's own environment that a command sees. */
export function listPassedVariables(
  own: Environment,
  further: readonly string[],
): Readonly<Record<string, string>> {
  const listed = new Set(further);
  const passed = Object.entries(own).flatMap(([name, value]) =>
    value !== undefined && (PASSED_ON.has(name) || listed.has(name))
      ? [[name, value] as const]
      : [],
  );
  return Object.fromEntries(passed);
}

/** Returns the PATH of a command. */
export function buildCommandPath(own: Environment): string {
  const entries = (own['PATH'] ?? '').split(delimiter).filter((entry) => isAbsolute(entry));
  return entries.length === 0 ? DEFAULT_PATH : entries.join(delimiter);
}

/** Variables that name certificates that the user trusts, in the programs that read them. */
const CERTIFICATES = listNames(`
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS npm_config_cafile CURL_CA_BUNDLE GIT_SSL_CAINFO
  REQUESTS_CA_BUNDLE PIP_CERT CARGO_HTTP_CAINFO DENO_CERT AWS_CA_BUNDLE NIX_SSL_CERT_FILE
`);
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Without a network, retries of package managers only waste time. */
const NO_RETRIES: Environment = {
  npm_config_fetch_retries: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  YARN_HTTP_RETRY: '0',
};

/**
 * Selects the variables of the user's environment that a command needs to reach servers as the user does:
 * certificates, and proxies without a password. Without a network it returns settings that keep package
 * managers from retrying.
 */
export function buildNetworkEnvironment(own: Environment, network: boolean): Environment {
  if (!network) return NO_RETRIES;
  const passed = [...CERTIFICATES, ...PROXIES].flatMap((name) => {
    const value = own[name];
    return value === undefined || (PROXIES.includes(name) && value.includes('@'))
      ? []
      : [[name, value] as const];
  });
  return Object.fromEntries(passed);
}

/**
 * Variables that tell programs that nobody reads page by page, answers a prompt or wants to hear of a newer
 * version. A check for a newer version would wait for a network that a sandbox does not have: `npm init` took
 * minutes. Each name is in the documentation of its program, and none changes other behavior (as `CI=1` would).
 */
export const UNATTENDED: Environment = {
  // Pagers. The general one (`PAGER`) and those of git are in git-environment.ts.
  MANPAGER: 'cat', // man(1)
  SYSTEMD_PAGER: 'cat', // systemctl(1), journalctl(1): the same as --no-pager
  GH_PAGER: 'cat', // `gh help environment`
  AWS_PAGER: '', // AWS CLI user guide, "Setting the client-side pager": empty for none
  BAT_PAGER: 'cat', // bat README, "Using a different pager"
  DELTA_PAGER: 'cat', // delta manual, "Choice of pager"
  PSQL_PAGER: 'cat', // psql(1), "Environment"
  PERLDOC_PAGER: 'cat', // perldoc(1), "Environment"
  APT_LISTCHANGES_FRONTEND: 'none', // apt-listchanges(1)

  // Checks for a newer version.
  npm_config_update_notifier: 'false', // npm documentation, "update-notifier"; pnpm reads it, too
  NO_UPDATE_NOTIFIER: '1', // README of the package update-notifier, which many programs use
  GH_NO_UPDATE_NOTIFIER: '1', // `gh help environment`
  GH_NO_EXTENSION_UPDATE_NOTIFIER: '1', // the same
  PIP_DISABLE_PIP_VERSION_CHECK: '1', // pip documentation, "--disable-pip-version-check"
  RUBYGEMS_PREVENT_UPDATE_SUGGESTION: '1', // RubyGems, Gem::ConfigFile
  CONDA_NOTIFY_OUTDATED_CONDA: 'false', // conda documentation, "notify_outdated_conda"
  HOMEBREW_NO_AUTO_UPDATE: '1', // brew(1), "Environment"
  DENO_NO_UPDATE_CHECK: '1', // Deno manual, "Environment variables"
  DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE: '1', // .NET documentation, "Environment variables"
  CHECKPOINT_DISABLE: '1', // Terraform and Packer documentation
  VAGRANT_CHECKPOINT_DISABLE: '1', // Vagrant documentation, "Environmental variables"
  PULUMI_SKIP_UPDATE_CHECK: 'true', // Pulumi documentation, "Environment variables"
  SENTRY_DISABLE_UPDATE_CHECK: '1', // sentry-cli documentation, "Updating"
  SKAFFOLD_UPDATE_CHECK: 'false', // Skaffold documentation, "--update-check"
  MINIKUBE_WANTUPDATENOTIFICATION: 'false', // minikube documentation, "Environment variables"
  CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: 'true', // `gcloud topic configurations`

  // Prompts.
  DEBIAN_FRONTEND: 'noninteractive', // debconf(7)
  COREPACK_ENABLE_DOWNLOAD_PROMPT: '0', // Corepack README, "Environment variables"
  PIP_NO_INPUT: '1', // pip documentation, "--no-input"
  POETRY_NO_INTERACTION: '1', // Poetry documentation, "--no-interaction"
  COMPOSER_NO_INTERACTION: '1', // Composer documentation, "Environment variables"
  GH_PROMPT_DISABLED: '1', // `gh help environment`
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1', // `gcloud topic configurations`
};
