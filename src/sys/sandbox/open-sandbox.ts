import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { createAccessCheck, hasOnlyUsableFiles } from './allowed-access.ts';
import { buildBubblewrapArguments } from './bubblewrap.ts';
import { locateCaches, usesPackageCaches, type CacheSettings } from './package-caches.ts';
import { Loopbacks } from './loopbacks.ts';
import {
  diagnoseBubblewrapFailure,
  diagnoseMissingBubblewrap,
  readMachineDetails,
} from './diagnosis.ts';
import { findTrustedProgram } from '../processes/find-program.ts';
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
  EMPTY_FILE,
  type CommandToConfine,
  type ConfinedCommand,
  type Confinement,
  type Sandbox,
  type SandboxState,
} from './sandbox.ts';
import { buildSeatbeltArguments } from './seatbelt.ts';
import { testSandbox } from './self-test.ts';
import { determineAccess, type HostPaths, type CommandAccess } from './access-rules.ts';

/** The settings with which a sandbox is opened. */
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
   * A private directory for records of running commands and for quarantined files, created when needed; null if there
   * is none.
   */
  readonly records: string | null;
  /** The maximum number of processes and threads of one command at a time. Default: 0, no limit. */
  readonly maxProcesses?: number;
}

/** Opens the sandbox of this machine. Nothing is inspected before the first call of `state`. */
export function openSandbox(settings: SandboxSettings): Sandbox {
  const { kind, platform, maxProcesses } = settings;
  if (kind === 'off') {
    const hint = 'set sandbox.kind = "auto"';
    return createUnavailableSandbox('sandbox.kind is "off"', hint, maxProcesses);
  }
  if (kind === 'container') return createMachineSandbox(maxProcesses);
  const own = platform === 'linux' ? 'bwrap' : platform === 'darwin' ? 'seatbelt' : undefined;
  if (own === undefined) {
    const hint = 'run Muster on Linux or macOS';
    return createUnavailableSandbox(`none is known for ${platform}`, hint, maxProcesses);
  }
  if (kind !== 'auto' && kind !== own) {
    const because = `sandbox.kind is "${kind}", which ${platform} does not have`;
    return createUnavailableSandbox(because, 'set "auto"', maxProcesses);
  }
  return own === 'bwrap' ? new Bubblewrap(settings) : new Seatbelt(settings);
}

/** A sandbox that is tested when its state is requested for the first time. */
abstract class TestedSandbox implements Sandbox {
  readonly maxProcesses: number;
  protected readonly settings: SandboxSettings;
  private tested: Promise<SandboxState> | undefined;

  constructor(settings: SandboxSettings) {
    this.settings = settings;
    this.maxProcesses = settings.maxProcesses ?? 0;
  }

  state(): Promise<SandboxState> {
    return (this.tested ??= this.test());
  }

  confine(command: CommandToConfine): ConfinedCommand {
    return this.confineWith(command, this.settings.caches ?? null);
  }

  abstract useLoopback(key: string): Promise<() => void>;

  /** Confines a command. `caches` is null if the command gets no caches of package managers. */
  protected abstract confineWith(
    command: CommandToConfine,
    caches: CacheSettings | null,
  ): ConfinedCommand;

  protected abstract test(): Promise<SandboxState>;

  /** Runs the self-test in the sandbox. Never rejects. */
  protected async runSelfTest(): ReturnType<typeof testSandbox> {
    const [home = '/'] = this.settings.hostPaths.homes;
    for (let tries = 1; ; tries += 1) {
      const result = await testSandbox((command) => this.confineWith(command, null), home).catch(
        // The test could not be prepared or started, so it did not show that the sandbox works.
        (thrown: unknown) => ({ ok: false, started: false, said: errorMessage(thrown) }) as const,
      );
      if (result.ok || result.started || tries === MAX_ATTEMPTS) return result;
    }
  }
}

/**
 * The maximum number of attempts of the self-test. It may fail although the sandbox works, if a file that is to be
 * hidden disappears while the sandbox is being set up.
 */
const MAX_ATTEMPTS = 4;

class Bubblewrap extends TestedSandbox {
  private readonly protection = new ProtectedFileChecks(this.settings);
  private readonly loopbacks = new Loopbacks();
  private program: string | undefined;
  private nsenter: string | undefined;

  async useLoopback(key: string): Promise<() => void> {
    const { program, nsenter } = this;
    return program === undefined || nsenter === undefined
      ? () => {}
      : await this.loopbacks.use(key, program);
  }

  protected confineWith(
    command: CommandToConfine,
    settings: CacheSettings | null,
  ): ConfinedCommand {
    const { argv, cwd, env, confinement, stderr, loopback } = command;
    const { access, network } = confinement;
    const caches = locateCaches(settings, {
      mayWrite: access === 'workspace',
      network,
      isFresh: confinement.freshCaches === true,
      makes: usesPackageCaches(argv),
    });
    const { rules, protectedPaths, backup } = this.determineCommandAccess(
      confinement,
      caches.writable,
    );
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
      ...(confinement.servesFileTools === true ? this.openMask() : {}),
    };
    const { maxProcesses } = this;
    const args = buildBubblewrapArguments(
      plan,
      isMonitored
        ? withMonitor(argv, { maxProcesses })
        : withLimits(argv, { maxProcesses, startCheck: true }),
    );
    const program = this.program ?? 'bwrap';
    return {
      ...(entry === null
        ? { file: program, args }
        : { file: this.nsenter ?? 'nsenter', args: [...entry, program, ...args] }),
      env: {
        ...caches.variables(plan.scratch),
        ...useScratchDirectory(env, plan.scratch),
        ...(backup === null ? {} : disableHooks(env)),
      },
      monitored: isMonitored,
      startCheck: true,
      allows: this.createCallCheck(rules, protectedPaths.missing),
      ...(confinement.servesFileTools === true
        ? { settle: () => Promise.resolve(EMPTY_CLEANUP), release: () => {} }
        : this.protection.begin({ pathState: protectedPaths, backup, roots: confinement.roots })),
    };
  }

  private createCallCheck(
    ...[rules, missing]: Parameters<typeof createAccessCheck>
  ): ConfinedCommand['allows'] {
    const isShown = createAccessCheck(rules, missing);
    const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    return (access) => isShown(access) && hasOnlyUsableFiles(access, own);
  }

  /** Creates the empty file that stands in for hidden files. Without a directory for it, hidden files are devices. */
  private openMask(): Pick<SandboxPlan, 'mask'> {
    const { records } = this.settings;
    if (records === null) return {};
    const mask = join(records, EMPTY_FILE);
    try {
      mkdirSync(records, { recursive: true, mode: 0o700 });
      writeFileSync(mask, '', { mode: 0o600 });
      return { mask };
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
      return {};
    }
  }

  /**
   * Determines the access of a command. Protected files are left writable for git only if they can be restored
   * afterwards.
   */
  private determineCommandAccess(
    confinement: Confinement,
    caches: readonly string[],
  ): PreparedAccess {
    const { records, path } = this.settings;
    const hostPaths = { ...this.settings.hostPaths, path, caches };
    const prepared = determineAccess(confinement, hostPaths);
    if (prepared.gitWritable === null) return { ...prepared, backup: null };
    const backup = this.protection.isSettled()
      ? ProtectedFileBackup.create(prepared.gitWritable, quarantineDirectory(records))
      : null;
    if (backup !== null) return { ...prepared, backup };
    const restricted = determineAccess({ ...confinement, runsGitAlone: false }, hostPaths);
    return { ...restricted, backup: null };
  }

  protected async test(): Promise<SandboxState> {
    const { path, roots } = this.settings;
    this.protection.cleanUpAfterKilledProcesses();
    this.program = findTrustedProgram('bwrap', path, roots);
    this.nsenter = findTrustedProgram('nsenter', path, roots);
    if (this.program === undefined)
      return { on: false, ...diagnoseMissingBubblewrap(readMachineDetails()) };
    const result = await this.runSelfTest();
    if (result.ok) return { on: true, kind: 'bwrap' };
    if (!result.started)
      return { on: false, ...diagnoseBubblewrapFailure(result.said, readMachineDetails()) };
    return { on: false, ...describeFailedTest(result.said) };
  }
}

interface PreparedAccess extends CommandAccess {
  readonly backup: ProtectedFileBackup | null;
}

/** Adds a git setting that disables hooks while more files than usual are writable. */
function disableHooks(env: CommandToConfine['env']): CommandToConfine['env'] {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
    [`GIT_CONFIG_VALUE_${count}`]: '/dev/null',
  };
}

const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

/** The sandbox of macOS. The scratch directory of a command is a directory on disk, because Seatbelt has no mounts. */
class Seatbelt extends TestedSandbox {
  /** Does nothing: on macOS the network is allowed or denied as a whole. */
  useLoopback(): Promise<() => void> {
    return Promise.resolve(() => {});
  }

  protected confineWith(
    { argv, cwd, env, confinement }: CommandToConfine,
    settings: CacheSettings | null,
  ): ConfinedCommand {
    const scratch = makeUserOnlyTempDirectory('muster-command-');
    const caches = locateCaches(settings, {
      mayWrite: confinement.access === 'workspace',
      network: confinement.network,
      isFresh: confinement.freshCaches === true,
      makes: usesPackageCaches(argv),
    });
    const { hostPaths } = this.settings;
    const { rules, protectedPaths } = determineAccess(confinement, {
      ...hostPaths,
      caches: caches.writable,
    });
    const plan: SandboxPlan = {
      rules: [
        // Seatbelt cannot replace a directory by a private one. Such directories stay read-only by default.
        ...rules.filter(({ kind }) => kind !== 'private'),
        ...protectedPaths.missing.map((path) => ({ kind: 'absent', path }) as const),
      ],
      scratch,
      network: confinement.network,
      cwd,
      asRoot: process.getuid?.() === 0,
    };
    const { maxProcesses } = this;
    return {
      file: SANDBOX_EXEC,
      args: buildSeatbeltArguments(plan, withLimits(argv, { maxProcesses, startCheck: false })),
      env: { ...caches.variables(scratch), ...useScratchDirectory(env, scratch) },
      monitored: false,
      startCheck: false,
      allows: createAccessCheck(plan.rules, []),
      settle: () => Promise.resolve(EMPTY_CLEANUP),
      release: () => rmSync(scratch, { recursive: true, force: true }),
    };
  }

  protected async test(): Promise<SandboxState> {
    const hint = 'it comes with macOS; look at /usr/bin';
    try {
      accessSync(SANDBOX_EXEC, constants.X_OK);
    } catch (thrown) {
      return { on: false, because: `sandbox-exec cannot be run: ${errorMessage(thrown)}`, hint };
    }
    const result = await this.runSelfTest();
    if (result.ok) return { on: true, kind: 'seatbelt' };
    if (result.started) return { on: false, ...describeFailedTest(result.said) };
    return {
      on: false,
      because: `sandbox-exec does not work here (${oneLine(result.said)})`,
      hint,
    };
  }
}

function describeFailedTest(said: string): { readonly because: string; readonly hint: string } {
  return {
    because: `the sandbox failed its self-test: ${oneLine(said)}`,
    hint: 'run `muster doctor` and report what it says',
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, '; ').slice(0, 200);
}

/** Points temporary files, and caches that have no variable of their own, to the scratch directory. */
function useScratchDirectory(
  env: CommandToConfine['env'],
  scratch: string,
): CommandToConfine['env'] {
  return { ...env, TMPDIR: scratch, XDG_CACHE_HOME: join(scratch, '.cache') };
}
