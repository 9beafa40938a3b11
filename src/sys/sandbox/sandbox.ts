import type { CleanupResult } from '../../base/cleanup-result.ts';
import type { Environment } from '../env.ts';

/** What a command may touch while it runs. */
export interface Confinement {
  /** `read-only`: nothing on disk can be changed; `workspace`: the roots can, but what is protected in them. */
  readonly access: 'read-only' | 'workspace';
  /** Absolute real paths. */
  readonly roots: readonly string[];
  /** Whether it shares the machine's network; otherwise it has a loopback of its own and nothing else. */
  readonly network: boolean;
  /** Default: none. */
  readonly denied?: DeniedPaths;
  /**
   * Whether the command runs nothing but git, by its words. Where the repository makes git run nothing else, git
   * may then change protected files, which are looked at afterwards. Default: false.
   */
  readonly runsGitAlone?: boolean;
}

/** Files, and directories with all that lies in them, that rules keep from commands. Absolute paths. */
export interface DeniedPaths {
  /** Not to be seen, and so not to be changed either; what lies above a root leaves the root as it is. */
  readonly hidden: readonly string[];
  /** Not to be changed; a root in one can't be either. */
  readonly readOnly: readonly string[];
}

export interface CommandToConfine {
  readonly argv: readonly [string, ...string[]];
  /** Absolute, real. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Environment;
  readonly confinement: Confinement;
  /** The key of a loopback that it shares, where that is in use and it has no network; see `useLoopback`. */
  readonly loopback?: string;
  /** `monitor`: stderr is for reports about it; `command`: for the command itself, and nobody reports. */
  readonly stderr: 'monitor' | 'command';
}

/** A command as it has to be started. */
export interface ConfinedCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /**
   * The process that is started stands outside, ends with all that it holds, and reports on stderr (see
   * monitor-script.ts). False: nobody reports.
   */
  readonly monitored: boolean;
  /** The command begins only when `START_CHECK` (start-check.ts) was answered on its descriptor 3. */
  readonly startCheck: boolean;
  /**
   * Puts aside what the command has made under protected names that were missing when it began, unless git made
   * it with the content of a commit; to be called when it has ended, and now and then while it runs in the
   * background. Never rejects for a problem of the disk.
   */
  settle(): Promise<CleanupResult>;
  /**
   * Removes what was made for the command, and puts aside what was not settled. To be called once none of its
   * processes is left; further calls do nothing.
   */
  release(): void;
}

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

/** Holds commands by means of the operating system. */
export interface Sandbox {
  /** Whether there is one, tried out at the first call; never rejects. */
  state(): Promise<SandboxState>;
  /** For a sandbox whose state is `on`: how the command is started, from what is on the disk now. */
  confine(command: CommandToConfine): ConfinedCommand;
  /**
   * From when this resolves until what it gives is called, the commands of this key share a loopback, so
   * that they reach one another's servers. Where that can't be had, each has its own.
   */
  useLoopback(key: string): Promise<() => void>;
}

/** For a machine that is itself the sandbox, by the word of the user: no command is confined further. */
export function createMachineSandbox(): Sandbox {
  const because = 'sandbox.kind is "container": the machine itself is the sandbox';
  const hint = 'set sandbox.kind = "auto"';
  const state = { on: false, because, hint, instead: 'container' } as const;
  return { ...createUnavailableSandbox(because, hint), state: () => Promise.resolve(state) };
}

/** Where there is none. */
export function createUnavailableSandbox(because: string, hint: string): Sandbox {
  return {
    state: () => Promise.resolve({ on: false, because, hint }),
    confine: () => {
      throw new Error(`no command can be confined: ${because}`);
    },
    useLoopback: () => Promise.resolve(() => {}),
  };
}
