import type { CleanupResult } from '../../base/cleanup-result.ts';
import type { Environment } from '../env.ts';

/** The name of the empty file in the directory of records, which stands in for files that a program must not see. */
export const EMPTY_FILE = 'empty';

/** The files and the network that a command may use while it runs. */
export interface Confinement {
  /**
   * `read-only`: nothing on disk can be changed. `workspace`: the roots can be changed, except their protected
   * files.
   */
  readonly access: 'read-only' | 'workspace';
  /** The roots of the task. Absolute, without links. */
  readonly roots: readonly string[];
  /** True if the command uses the machine's network. Otherwise the command has only a loopback. */
  readonly network: boolean;
  /** Default: none. */
  readonly denied?: DeniedPaths;
  /**
   * True if the command line runs only git. If the repository does not make git run other programs either, git may
   * change protected files, which are checked afterwards. Default: false.
   */
  readonly runsGitAlone?: boolean;
  /** The worktree in which the command works, if its repository may be changed only on behalf of it. Default: none. */
  readonly worktree?: ConfinedWorktree;
  /** True if the command must not see what other commands have left in caches of package managers. Default: false. */
  readonly freshCaches?: boolean;
  /**
   * Files and directories, such as those of the program itself, that stay visible if they lie below a directory which is
   * hidden or replaced by an empty one. Absolute paths. Default: none.
   */
  readonly visible?: readonly string[];
  /**
   * Directories in which the program keeps its own state, such as its login. All of their files are visible to it, and it
   * can change them if the access is `workspace`. Absolute, without links. Default: none.
   */
  readonly ownState?: readonly string[];
  /**
   * True if the program carries out calls of file tools for as long as a task runs. Entries that appear under protected
   * names meanwhile stay, since the user may have created them. Git directories are read-only as a whole, since the
   * program runs no git and nothing checks afterwards what appears in them. Hidden files appear as empty files, so that
   * searches count them. Default: false.
   */
  readonly servesFileTools?: boolean;
}

/** The real paths that a call of a file tool reads or writes. A directory includes everything in it. Absolute paths. */
export interface FileToolAccess {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** A linked working tree whose commands may commit to their own branch and change nothing else in the repository. */
export interface ConfinedWorktree {
  /** The git directory of the repository. Absolute, without links. */
  readonly commonDirectory: string;
  /** The branch, with at least one `/`: the directory of its file belongs to the worktree alone. */
  readonly branch: string;
}

/** Files, and directories with their content, that permission rules deny to commands. Absolute paths. */
export interface DeniedPaths {
  /** Paths that the command must not see or change. A hidden directory above a root does not hide the root. */
  readonly hidden: readonly string[];
  /** Paths that the command must not change. If such a path contains a root, the root is read-only too. */
  readonly readOnly: readonly string[];
}

/** A command that is to run in the sandbox. */
export interface CommandToConfine {
  readonly argv: readonly [string, ...string[]];
  /** Absolute, real. */
  readonly cwd: string;
  /** The full environment. */
  readonly env: Environment;
  readonly confinement: Confinement;
  /**
   * The key of a shared loopback (see `useLoopback`). It has an effect only if the loopback is in use and the command
   * does not use the machine's network.
   */
  readonly loopback?: string;
  /**
   * `monitor`: stderr contains reports about the command (see monitor-script.ts). `command`: stderr is the stderr of
   * the command, and there are no reports.
   */
  readonly stderr: 'monitor' | 'command';
}

/** The program, arguments and environment that start a confined command. */
export interface ConfinedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /**
   * True if the started process is a monitor: it stays outside the sandbox, ends together with all processes inside,
   * and reports on stderr (see monitor-script.ts). If false, there are no reports.
   */
  readonly monitored: boolean;
  /** True if the command begins only after `START_CHECK` (start-check.ts) was answered on its descriptor 3. */
  readonly startCheck: boolean;
  /**
   * Tells whether a call of a file tool can do in this sandbox what it could do outside of it: the sandbox hides nothing
   * that the call names, and the call can write to what it names. See `allowsAccess` for the exceptions.
   */
  allows(access: FileToolAccess): boolean;
  /**
   * Quarantines entries that the command created under protected names that did not exist when it began, unless
   * git created them with the content of a commit. Call it when the command has ended, and from time to time
   * while it runs in the background. Never rejects because of a disk problem.
   */
  settle(): Promise<CleanupResult>;
  /**
   * Removes everything that was created for the command, and quarantines entries that `settle` has not handled. Call it
   * when none of the command's processes runs any more; further calls do nothing.
   */
  release(): void;
}

/** The state of the sandbox of this machine. */
export type SandboxState =
  | { readonly on: true; readonly kind: 'bwrap' | 'seatbelt' }
  /** `because` says on one line why there is no sandbox, and `hint` how to get one. */
  | {
      readonly on: false;
      readonly because: string;
      readonly hint: string;
      /**
       * Set if the user has declared that the machine itself is the sandbox. Commands then need no other sandbox, but
       * nothing can restrict a command to reading.
       */
      readonly instead?: 'container';
    };

/** Confines commands by means of the operating system. */
export interface Sandbox {
  /**
   * The maximum number of processes and threads of one command at a time, also where commands are not confined; 0: no
   * limit.
   */
  readonly maxProcesses: number;
  /** Reports whether there is a working sandbox. The first call tests the sandbox. Never rejects. */
  state(): Promise<SandboxState>;
  /**
   * Returns the program, arguments and environment that run a command in the sandbox, based on the present state of the
   * disk. Call it only if the sandbox works (`on` in its state).
   */
  confine(command: CommandToConfine): ConfinedCommand;
  /**
   * Lets the commands with this key share a loopback, so that they can reach each other's servers, from the time when
   * the promise resolves until the returned function is called. If no shared loopback can be created, each command has
   * its own loopback.
   */
  useLoopback(key: string): Promise<() => void>;
}

/**
 * Creates the sandbox for a machine that the user has declared to be the sandbox itself: commands are not
 * confined further.
 */
export function createMachineSandbox(maxProcesses = 0): Sandbox {
  const because = 'sandbox.kind is "container": the machine itself is the sandbox';
  const hint = 'set sandbox.kind = "auto"';
  const state = { on: false, because, hint, instead: 'container' } as const;
  return {
    ...createUnavailableSandbox(because, hint, maxProcesses),
    state: () => Promise.resolve(state),
  };
}

/** Creates the sandbox for a machine that has none. By default the processes of a command are not limited. */
export function createUnavailableSandbox(because: string, hint: string, maxProcesses = 0): Sandbox {
  return {
    maxProcesses,
    state: () => Promise.resolve({ on: false, because, hint }),
    confine: () => {
      throw new Error(`no command can be confined: ${because}`);
    },
    useLoopback: () => Promise.resolve(() => {}),
  };
}
