import type { CleanupResult } from '../../base/cleanup-result.ts';
import type { Environment } from '../env.ts';

/** The files and the network that a command may use while it runs. */
export interface Confinement {
  /**
   * `read-only`: nothing on disk can be changed. `workspace`: the roots can be changed, except their protected
   * files.
   */
  readonly access: 'read-only' | 'workspace';
  /** Absolute real paths. */
  readonly roots: readonly string[];
  /** True if the command shares the machine's network. Otherwise it has only a loopback of its own. */
  readonly network: boolean;
  /** Default: none. */
  readonly denied?: DeniedPaths;
  /**
   * True if the command line runs only git. If the repository makes git run no other program, git may then
   * change protected files, which are checked afterwards. Default: false.
   */
  readonly runsGitAlone?: boolean;
}

/** Files, and directories with their content, that permission rules deny to commands. Absolute paths. */
export interface DeniedPaths {
  /** Paths that must not be seen or changed. A hidden directory above a root does not affect the root. */
  readonly hidden: readonly string[];
  /** Paths that must not be changed. This includes roots inside them. */
  readonly readOnly: readonly string[];
}

/** A command that is to run in the sandbox. */
export interface CommandToConfine {
  readonly argv: readonly [string, ...string[]];
  /** Absolute, real. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Environment;
  readonly confinement: Confinement;
  /**
   * The key of a shared loopback (see `useLoopback`). It applies if the loopback is in use and the command has
   * no network.
   */
  readonly loopback?: string;
  /**
   * `monitor`: stderr carries reports about the command. `command`: stderr belongs to the command, and there
   * are no reports.
   */
  readonly stderr: 'monitor' | 'command';
}

/** The program, arguments and environment that start a confined command. */
export interface ConfinedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /**
   * True if the started process stays outside the sandbox, ends together with everything inside, and reports on
   * stderr (see monitor-script.ts). False: there are no reports.
   */
  readonly monitored: boolean;
  /** True if the command begins only after `START_CHECK` (start-check.ts) was answered on its descriptor 3. */
  readonly startCheck: boolean;
  /**
   * Quarantines entries that the command created under protected names that did not exist when it began, unless
   * git created them with the content of a commit. Call it when the command has ended, and from time to time
   * while it runs in the background. Never rejects because of a disk problem.
   */
  settle(): Promise<CleanupResult>;
  /**
   * Removes everything that was created for the command, and quarantines entries that were not settled. Call it
   * when none of the command's processes is left; further calls do nothing.
   */
  release(): void;
}

/** The state of the sandbox of this machine. */
export type SandboxState =
  | { readonly on: true; readonly kind: 'bwrap' | 'seatbelt' }
  /** `because` and `hint` are one line each: why there is none, and how to get one. */
  | {
      readonly on: false;
      readonly because: string;
      readonly hint: string;
      /**
       * The user says that the machine itself is the sandbox. Nothing is missing, then, but nothing here holds a
       * command to reading either.
       */
      readonly instead?: 'container';
    };

/** Confines commands by means of the operating system. */
export interface Sandbox {
  /** Reports whether there is a working sandbox. It is tested at the first call. Never rejects. */
  state(): Promise<SandboxState>;
  /**
   * Returns how to start a command, based on the present state of the disk. The state of the sandbox must be
   * `on`.
   */
  confine(command: CommandToConfine): ConfinedCommand;
  /**
   * Lets the commands of this key share a loopback, so that they can reach each other's servers, from the time
   * when the promise resolves until the returned function is called. If that is not possible, each command has
   * its own loopback.
   */
  useLoopback(key: string): Promise<() => void>;
}

/**
 * Creates the sandbox for a machine that the user has declared to be the sandbox itself: commands are not
 * confined further.
 */
export function createMachineSandbox(): Sandbox {
  const because = 'sandbox.kind is "container": the machine itself is the sandbox';
  const hint = 'set sandbox.kind = "auto"';
  const state = { on: false, because, hint, instead: 'container' } as const;
  return { ...createUnavailableSandbox(because, hint), state: () => Promise.resolve(state) };
}

/** Creates the sandbox for a machine that has none. */
export function createUnavailableSandbox(because: string, hint: string): Sandbox {
  return {
    state: () => Promise.resolve({ on: false, because, hint }),
    confine: () => {
      throw new Error(`no command can be confined: ${because}`);
    },
    useLoopback: () => Promise.resolve(() => {}),
  };
}
