import { accessSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../base/errors.ts';
import { buildBubblewrapArguments } from './bubblewrap.ts';
import { locateCaches, usesPackageCaches, type CacheSettings } from './package-caches.ts';
import { Loopbacks } from './loopbacks.ts';
import { diagnoseBubblewrapFailure, diagnoseMissingBubblewrap } from './diagnosis.ts';
import { findTrustedProgram } from '../processes/trusted-program.ts';
import { readMachineDetails } from './machine-facts.ts';
import { withLimits, withMonitor } from './monitor-script.ts';
import {
  quarantineDirectory,
  EMPTY_CLEANUP,
  ProtectedFileChecks,
} from './cleanup/protected-file-checks.ts';
import { ProtectedFileBackup } from './cleanup/file-backup.ts';
import type { SandboxPlan } from './plan.ts';
import { makeUserOnlyTempDirectory } from './private-directories.ts';
import {
  createMachineSandbox,
  createUnavailableSandbox,
  type CommandToConfine,
  type ConfinedCommand,
  type Confinement,
  type Sandbox,
  type SandboxState,
} from './sandbox.ts';
import { buildSeatbeltArguments } from './seatbelt.ts';
import { testSandbox } from './self-test.ts';
import { determineAccess, type HostPaths, type CommandAccess } from './access-rules.ts';

/** The settings that a sandbox is opened with. */
export interface SandboxSettings {
  readonly kind: 'auto' | 'bwrap' | 'seatbelt' | 'container' | 'off';
  readonly platform: NodeJS.Platform;
  /** The user's PATH. */
  readonly path: string;
  /** Directories that commands can write to. Programs in them are never used to confine commands. */
  readonly roots: readonly string[];
  readonly hostPaths: HostPaths;
  /** Default: caches are kept in the temporary directory of each command. */
  readonly caches?: CacheSettings;
  /**
   * A private directory for notes about running commands and for quarantined files, created when needed; null
   * if there is none.
   */
  readonly records: string | null;
}

/** Opens the sandbox of this machine. Nothing is inspected before the first call of `state`. */
export function openSandbox(settings: SandboxSettings): Sandbox {
  const { kind, platform } = settings;
  if (kind === 'off')
    return createUnavailableSandbox('sandbox.kind is "off"', 'set sandbox.kind = "auto"');
  if (kind === 'container') return createMachineSandbox();
  const own = platform === 'linux' ? 'bwrap' : platform === 'darwin' ? 'seatbelt' : undefined;
  if (own === undefined) {
    return createUnavailableSandbox(
      `none is known for ${platform}`,
      'run Muster on Linux or macOS',
    );
  }
  if (kind !== 'auto' && kind !== own) {
    return createUnavailableSandbox(
      `sandbox.kind is "${kind}", which ${platform} does not have`,
      'set "auto"',
    );
  }
  return own === 'bwrap' ? new Bubblewrap(settings) : new Seatbelt(settings);
}

class Bubblewrap implements Sandbox {
  private readonly settings: SandboxSettings;
  private readonly protection: ProtectedFileChecks;
  private readonly loopbacks = new Loopbacks();
  private program: string | undefined;
  private nsenter: string | undefined;
  private tried: Promise<SandboxState> | undefined;

  constructor(settings: SandboxSettings) {
    this.settings = settings;
    this.protection = new ProtectedFileChecks(settings);
  }

  state(): Promise<SandboxState> {
    return (this.tried ??= this.tryOut());
  }

  async useLoopback(key: string): Promise<() => void> {
    const { program, nsenter } = this;
    return program === undefined || nsenter === undefined
      ? () => {}
      : await this.loopbacks.use(key, program);
  }

  confine(command: CommandToConfine): ConfinedCommand {
    return this.confined(command, this.settings.caches ?? null);
  }

  private confined(command: CommandToConfine, settings: CacheSettings | null): ConfinedCommand {
    const { argv, cwd, env, confinement, stderr, loopback } = command;
    const { access, network } = confinement;
    const caches = locateCaches(settings, {
      mayWrite: access === 'workspace',
      network,
      makes: usesPackageCaches(argv),
    });
    const { rules, protectedPaths: places, opened } = this.surveyFor(confinement, caches.writable);
    const isMonitored = stderr === 'monitor';
    const entry =
      loopback === undefined || confinement.network ? null : this.loopbacks.entry(loopback);
    const plan: SandboxPlan = {
      rules,
      scratch: rules.some(({ kind, path }) => kind === 'private' && path === '/tmp')
        ? '/tmp'
        : '/dev/shm',
      network: confinement.network || entry !== null,
      cwd,
      asRoot: process.getuid?.() === 0,
    };
    const args = buildBubblewrapArguments(
      plan,
      isMonitored ? withMonitor(argv) : withLimits(argv, { startCheck: true }),
    );
    const program = this.program ?? 'bwrap';
    return {
      ...(entry === null
        ? { file: program, args }
        : { file: this.nsenter ?? 'nsenter', args: [...entry, program, ...args] }),
      env: {
        ...caches.variables(plan.scratch),
        ...withScratch(env, plan.scratch),
        ...(opened === null ? {} : withoutHooks(env)),
      },
      monitored: isMonitored,
      startCheck: true,
      ...this.protection.begin({ places, opened, roots: confinement.roots }),
    };
  }

  /**
   * Determines the access of a command. Protected files are left writable for git only if they can be restored
   * afterwards.
   */
  private surveyFor(confinement: Confinement, caches: readonly string[]): Surveyed {
    const { records, path } = this.settings;
    const hostPaths = { ...this.settings.hostPaths, path, caches };
    const surveyed = determineAccess(confinement, hostPaths);
    if (surveyed.gitWritable === null) return { ...surveyed, opened: null };
    const opened = this.protection.isSettled()
      ? ProtectedFileBackup.create(surveyed.gitWritable, quarantineDirectory(records))
      : null;
    if (opened !== null) return { ...surveyed, opened };
    const held = determineAccess({ ...confinement, runsGitAlone: false }, hostPaths);
    return { ...held, opened: null };
  }

  private async tryOut(): Promise<SandboxState> {
    const { path, roots, hostPaths } = this.settings;
    this.protection.sweep();
    this.program = findTrustedProgram('bwrap', path, roots);
    this.nsenter = findTrustedProgram('nsenter', path, roots);
    if (this.program === undefined)
      return { on: false, ...diagnoseMissingBubblewrap(readMachineDetails()) };
    const [home = '/'] = hostPaths.homes;
    const result = await tested((command) => this.confined(command, null), home);
    if (result.ok) return { on: true, kind: 'bwrap' };
    if (!result.started)
      return { on: false, ...diagnoseBubblewrapFailure(result.said, readMachineDetails()) };
    return { on: false, ...leaky(result.said) };
  }
}

interface Surveyed extends Omit<CommandAccess, 'opened'> {
  readonly opened: ProtectedFileBackup | null;
}

/** Adds a git setting that disables hooks while more files than usual are writable. */
function withoutHooks(env: CommandToConfine['env']): CommandToConfine['env'] {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
    [`GIT_CONFIG_VALUE_${count}`]: '/dev/null',
  };
}

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

/** The sandbox of macOS. A missing path needs no placeholder there, and a private directory is a real one. */
class Seatbelt implements Sandbox {
  private readonly settings: SandboxSettings;
  private tried: Promise<SandboxState> | undefined;

  constructor(settings: SandboxSettings) {
    this.settings = settings;
  }

  state(): Promise<SandboxState> {
    return (this.tried ??= this.tryOut());
  }

  /** Does nothing: on macOS the network is allowed or denied as a whole. */
  useLoopback(): Promise<() => void> {
    return Promise.resolve(() => {});
  }

  confine(command: CommandToConfine): ConfinedCommand {
    return this.confined(command, this.settings.caches ?? null);
  }

  private confined(
    { argv, cwd, env, confinement }: CommandToConfine,
    settings: CacheSettings | null,
  ): ConfinedCommand {
    const scratch = makeUserOnlyTempDirectory('muster-command-');
    const caches = locateCaches(settings, {
      mayWrite: confinement.access === 'workspace',
      network: confinement.network,
      makes: usesPackageCaches(argv),
    });
    const { hostPaths } = this.settings;
    const { rules, protectedPaths: places } = determineAccess(confinement, {
      ...hostPaths,
      caches: caches.writable,
    });
    const plan: SandboxPlan = {
      rules: [
        // Nothing private can be laid over these: they are read-only there, as everything is.
        ...rules.filter(({ kind }) => kind !== 'private'),
        ...places.missing.map((path) => ({ kind: 'absent', path }) as const),
      ],
      scratch,
      network: confinement.network,
      cwd,
      asRoot: process.getuid?.() === 0,
    };
    return {
      file: SANDBOX_EXEC,
      args: buildSeatbeltArguments(plan, withLimits(argv, { startCheck: false })),
      env: { ...caches.variables(scratch), ...withScratch(env, scratch) },
      monitored: false,
      startCheck: false,
      settle: () => Promise.resolve(EMPTY_CLEANUP),
      release: () => rmSync(scratch, { recursive: true, force: true }),
    };
  }

  private async tryOut(): Promise<SandboxState> {
    const hint = 'it comes with macOS; look at /usr/bin';
    try {
      accessSync(SANDBOX_EXEC, constants.X_OK);
    } catch (thrown) {
      return { on: false, because: `sandbox-exec can't be run: ${errorMessage(thrown)}`, hint };
    }
    const [home = '/'] = this.settings.hostPaths.homes;
    const result = await tested((command) => this.confined(command, null), home);
    if (result.ok) return { on: true, kind: 'seatbelt' };
    if (result.started) return { on: false, ...leaky(result.said) };
    return {
      on: false,
      because: `sandbox-exec does not work here (${oneLine(result.said)})`,
      hint,
    };
  }
}

type Confine = (command: CommandToConfine) => ConfinedCommand;

/**
 * The self-test is repeated because a file that is to be hidden may disappear while the sandbox is being set
 * up. One such failure does not show that the sandbox does not work.
 */
const MOST_TRIES = 4;

async function tested(confine: Confine, home: string): ReturnType<typeof testSandbox> {
  for (let tries = 1; ; tries += 1) {
    const result = await testedOnce(confine, home);
    if (result.ok || result.started || tries === MOST_TRIES) return result;
  }
}

async function testedOnce(confine: Confine, home: string): ReturnType<typeof testSandbox> {
  try {
    return await testSandbox(confine, home);
  } catch (thrown) {
    // No place for the test, no process to be had: whatever it is, nothing was shown to hold.
    return { ok: false, started: false, said: errorMessage(thrown) };
  }
}

function leaky(said: string): { readonly because: string; readonly hint: string } {
  return {
    because: `the sandbox did not hold when it was tried out: ${oneLine(said)}`,
    hint: 'look at what `muster doctor` says, and report it',
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, '; ').slice(0, 200);
}

/** Points temporary files, and caches that have no variable of their own, to the scratch directory. */
function withScratch(env: CommandToConfine['env'], scratch: string): CommandToConfine['env'] {
  return { ...env, TMPDIR: scratch, XDG_CACHE_HOME: join(scratch, '.cache') };
}
