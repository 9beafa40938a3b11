import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { isGitOnlyCommand } from '../../policy/shell/git-only.ts';
import type { SandboxSettings } from '../../sys/sandbox/open-sandbox.ts';
import {
  createMachineSandbox,
  createUnavailableSandbox,
  type Confinement,
  type Sandbox,
} from '../../sys/sandbox/sandbox.ts';
import type { Config } from '../../config/config.ts';
import { userConfigDirectory, type UserEnvironment } from '../../config/paths.ts';
import { toRealPath } from '../../sys/files/real-path.ts';

/** The name in the directory of records that holds files moved out of workspaces. */
const REMOVED = 'removed';

export interface SandboxOptions extends UserEnvironment {
  readonly kind: Config['sandbox']['kind'];
  readonly caches: Config['sandbox']['caches'];
  /** Absolute real paths. */
  readonly roots: readonly string[];
  /** Absolute. It need not exist. */
  readonly dataDir: string;
  /** True if the data directory may be written. */
  readonly keepsRecords: boolean;
  /**
   * Called with one line for each file that a command of a killed process had made and that was moved away. Default:
   * the line is dropped.
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * Opens the sandbox of this machine as configured. Its code is loaded when its state is first requested.
 */
export function openConfiguredSandbox(place: SandboxOptions): Sandbox {
  const settings = sandboxSettings(place);
  if (place.kind === 'off')
    return createUnavailableSandbox('sandbox.kind is "off"', 'set sandbox.kind = "auto"');
  if (place.kind === 'container') return createMachineSandbox();
  const { records } = settings;
  if (records !== null && hasRecords(records)) void sweep(records, place.onNotice ?? (() => {}));
  let opened: Sandbox | undefined;
  return {
    state: async () => {
      opened ??= (await import('../../sys/sandbox/open-sandbox.ts')).openSandbox(settings);
      return opened.state();
    },
    confine: (command) => {
      if (opened === undefined) throw new Error('its state was not asked for');
      return opened.confine(command);
    },
    useLoopback: async (key) => (await opened?.useLoopback(key)) ?? (() => {}),
  };
}

/** Returns the confinement of a program with its arguments, which no shell reads. */
export function confineProgram(argv: readonly string[], limits: Confinement): Confinement {
  return { ...limits, runsGitAlone: isGitOnlyCommand(argv) };
}

/**
 * Wraps a sandbox so that a notice is given once when a command runs unconfined. There is none if the user has chosen
 * that.
 */
export function announceMissingSandbox(
  sandbox: Sandbox,
  { kind, onNotice }: Pick<SandboxOptions, 'kind'> & { readonly onNotice: (line: string) => void },
): Sandbox {
  let wasReported = kind === 'off' || kind === 'container';
  return {
    state: async () => {
      const state = await sandbox.state();
      if (!state.on && !wasReported) {
        wasReported = true;
        onNotice(
          `no sandbox: ${state.because}. Shell commands run with all your rights, held back by the permission rules alone. To get one: ${state.hint}`,
        );
      }
      return state;
    },
    confine: (command) => sandbox.confine(command),
    useLoopback: (key) => sandbox.useLoopback(key),
  };
}

function sandboxSettings(place: SandboxOptions): SandboxSettings {
  const { environment, home, kind, caches, roots, dataDir, keepsRecords } = place;
  const cacheHome = environment['XDG_CACHE_HOME'];
  const base = cacheHome !== undefined && isAbsolute(cacheHome) ? cacheHome : join(home, '.cache');
  const runtime = environment['XDG_RUNTIME_DIR'];
  return {
    kind,
    platform: process.platform,
    path: environment['PATH'] ?? '',
    roots,
    hostPaths: {
      homes: [...new Set([home, ownHome(home)].map(toRealPath))],
      // Code that Muster runs is its own, too, where the workspace is the home directory.
      stateDirectories: [dataDir, userConfigDirectory(place), join(base, 'muster/compiled')].map(
        toRealPath,
      ),
      runtimeDirectories:
        runtime === undefined || !isAbsolute(runtime) ? [] : [toRealPath(runtime)],
      sockets: [environment['SSH_AUTH_SOCK'], environment['DOCKER_HOST']?.replace('unix://', '')]
        .filter((path) => path !== undefined)
        .filter((path) => isAbsolute(path))
        .map(toRealPath),
    },
    // Where nothing is to be kept, caches go with each command.
    ...(keepsRecords
      ? { caches: { kind: caches, directory: join(base, 'muster/commands'), home, environment } }
      : {}),
    records: keepsRecords ? join(dataDir, 'sandbox') : null,
  };
}

/** Returns the home directory of the user database, which programs that ignore HOME use. */
function ownHome(home: string): string {
  try {
    return userInfo().homedir;
  } catch (thrown) {
    // A user without an entry.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return home;
  }
}

/** Returns whether there are records. Most starts find none, and load no code for them. */
function hasRecords(records: string): boolean {
  return existsSync(records) && readdirSync(records).some((name) => name !== REMOVED);
}

async function sweep(records: string, onNotice: (line: string) => void): Promise<void> {
  const { CommandRecords } = await import('../../sys/sandbox/cleanup/command-records.ts');
  for (const entry of new CommandRecords(records).cleanUp(join(records, REMOVED))) {
    const fate =
      entry.keptAt === null
        ? `could not be moved away (${entry.problem}): look at it`
        : `was moved to ${entry.keptAt}`;
    onNotice(
      `${entry.path} ${fate}. A command of a run that was killed had made it, and commands may not make protected files`,
    );
  }
}
