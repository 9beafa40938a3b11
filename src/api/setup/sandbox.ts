import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PLUGINS_DIRECTORY } from '../../trust/state-directory.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { isGitOnlyCommand } from '../../policy/shell/git-only.ts';
import type { SandboxSettings } from '../../sys/sandbox/open-sandbox.ts';
import {
  createMachineSandbox,
  createUnavailableSandbox,
  EMPTY_FILE,
  type Confinement,
  type Sandbox,
} from '../../sys/sandbox/sandbox.ts';
import type { Config } from '../../config/config.ts';
import { userConfigDirectory, type UserEnvironment } from '../../config/paths.ts';
import { toRealPath } from '../../sys/files/real-path.ts';

/** The subdirectory of the records directory to which protected files are moved out of workspaces. */
const MOVED_FILES = 'removed';
/** The entries of the records directory that are no records. */
const OTHER_ENTRIES: ReadonlySet<string> = new Set([MOVED_FILES, EMPTY_FILE]);

export interface SandboxOptions extends UserEnvironment {
  readonly kind: Config['sandbox']['kind'];
  readonly caches: Config['sandbox']['caches'];
  readonly commandProcesses: Config['sandbox']['commandProcesses'];
  /** The workspace roots: absolute paths without symbolic links. */
  readonly roots: readonly string[];
  /** Absolute. It need not exist. */
  readonly dataDir: string;
  /** True if Muster may write to the data directory. If not, commands get temporary caches. */
  readonly canWriteDataDir: boolean;
  /**
   * Called with one line for each protected file that a command of a killed run had created: where it was moved, or
   * why it could not be moved. Default: the lines are dropped.
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * Opens the sandbox of this machine as configured. The code of the sandbox is loaded at the first call of `state`. Call
 * `state` before `confine`.
 */
export function openConfiguredSandbox(options: SandboxOptions): Sandbox {
  const settings = createSandboxSettings(options);
  const { records } = settings;
  const { commandProcesses: maxProcesses } = options;
  if (options.kind === 'off') {
    const hint = 'set sandbox.kind = "auto"';
    return createUnavailableSandbox('sandbox.kind is "off"', hint, maxProcesses);
  }
  if (options.kind === 'container') return createMachineSandbox(maxProcesses);
  if (records !== null && hasRecords(records))
    void moveAwayLeftovers(records, options.onNotice ?? (() => {}));
  let opened: Sandbox | undefined;
  return {
    maxProcesses,
    state: async () => {
      opened ??= (await import('../../sys/sandbox/open-sandbox.ts')).openSandbox(settings);
      return opened.state();
    },
    confine: (command) => {
      if (opened === undefined) throw new Error('Sandbox.confine was called before Sandbox.state');
      return opened.confine(command);
    },
    useLoopback: async (key) => (await opened?.useLoopback(key)) ?? (() => {}),
  };
}

/** Returns the confinement of a program that is started directly, without a shell. */
export function confineProgram(argv: readonly string[], limits: Confinement): Confinement {
  return { ...limits, runsGitAlone: isGitOnlyCommand(argv) };
}

/**
 * Wraps a sandbox so that the first call of `state` that finds no confinement gives a notice. Gives no notice if the
 * user has turned the sandbox off or has configured a container.
 */
export function announceMissingSandbox(
  sandbox: Sandbox,
  { kind, onNotice }: Pick<SandboxOptions, 'kind'> & { readonly onNotice: (line: string) => void },
): Sandbox {
  let wasReported = kind === 'off' || kind === 'container';
  return {
    maxProcesses: sandbox.maxProcesses,
    state: async () => {
      const state = await sandbox.state();
      if (!state.on && !wasReported) {
        wasReported = true;
        onNotice(
          `no sandbox: ${state.because}. Shell commands run with all your rights, and only the permission rules restrict them. To get a sandbox: ${state.hint}`,
        );
      }
      return state;
    },
    confine: (command) => sandbox.confine(command),
    useLoopback: (key) => sandbox.useLoopback(key),
  };
}

function createSandboxSettings(options: SandboxOptions): SandboxSettings {
  const { environment, home, kind, caches, roots, dataDir, canWriteDataDir } = options;
  const cacheHome = environment['XDG_CACHE_HOME'];
  const base = cacheHome !== undefined && isAbsolute(cacheHome) ? cacheHome : join(home, '.cache');
  const runtime = environment['XDG_RUNTIME_DIR'];
  return {
    kind,
    platform: process.platform,
    path: environment['PATH'] ?? '',
    roots,
    hostPaths: {
      homes: [...new Set([home, homeInUserDatabase(home)].map(toRealPath))],
      // The compiled code that Muster runs is protected too: the workspace may be the home directory.
      stateDirectories: [dataDir, userConfigDirectory(options), join(base, 'muster/compiled')].map(
        toRealPath,
      ),
      // Programs of plugins read the files of their plugin.
      shownDirectories: [toRealPath(join(dataDir, PLUGINS_DIRECTORY))],
      runtimeDirectories:
        runtime === undefined || !isAbsolute(runtime) ? [] : [toRealPath(runtime)],
      sockets: [environment['SSH_AUTH_SOCK'], environment['DOCKER_HOST']?.replace('unix://', '')]
        .filter((path) => path !== undefined)
        .filter((path) => isAbsolute(path))
        .map(toRealPath),
    },
    // Without permanent caches, each command gets its own caches, which are deleted after the command.
    ...(canWriteDataDir
      ? { caches: { kind: caches, directory: join(base, 'muster/commands'), home, environment } }
      : {}),
    records: canWriteDataDir ? join(dataDir, 'sandbox') : null,
    maxProcesses: options.commandProcesses,
  };
}

/** Returns the home directory that the user database gives, which programs that ignore HOME use. */
function homeInUserDatabase(home: string): string {
  try {
    return userInfo().homedir;
  } catch (thrown) {
    // The user has no entry in the database.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return home;
  }
}

/**
 * Checks whether killed runs have left records. Usually there are none, so that the code of the cleanup need not be
 * loaded.
 */
function hasRecords(records: string): boolean {
  return existsSync(records) && readdirSync(records).some((name) => !OTHER_ENTRIES.has(name));
}

/**
 * Moves protected files out of the workspaces that commands of killed runs had created there, and reports each file.
 */
async function moveAwayLeftovers(records: string, onNotice: (line: string) => void): Promise<void> {
  const { CommandRecords } = await import('../../sys/sandbox/cleanup/command-records.ts');
  for (const entry of new CommandRecords(records).cleanUp(join(records, MOVED_FILES))) {
    const outcome =
      entry.keptAt === null
        ? `could not be moved away (${entry.problem}): check it yourself`
        : `was moved to ${entry.keptAt}`;
    onNotice(
      `${entry.path} ${outcome}. It was created by a command of a run that was killed, and commands may not create protected files`,
    );
  }
}
