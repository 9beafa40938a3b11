import type { JsonObject } from '../base/json.ts';
import type { Rights } from './permission.ts';

/** The program or server that does the work of an agent instead of a model and Muster's loop. */
export type RemoteAgent = AcpProgram | A2aServer;

/** A program that speaks the Agent Client Protocol over its stdin and stdout. */
export interface AcpProgram {
  /** The name of the protocol. */
  readonly protocol: 'acp';
  /** The program: a name that is looked up in PATH, or a path. May contain `${NAME}`. */
  readonly command: string;
  /** The arguments. They may contain `${NAME}`. */
  readonly args: readonly string[];
  /**
   * The variables that the program gets in addition to the clean environment of servers. `${NAME}` stands for a variable
   * of the user's environment.
   */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The directories in which the program keeps its own state, such as its login. They are visible to it, and it can
   * change them unless its task is read-only. They begin with `/` or `~/`. Default: none.
   */
  readonly state?: readonly string[];
  /** The mode of the program in which it works, by its own id, such as one in which it asks. Default: its own choice. */
  readonly mode?: string;
}

/** A server that speaks the Agent2Agent protocol. */
export interface A2aServer {
  /** The name of the protocol. */
  readonly protocol: 'a2a';
  /** The URL of the agent card, or the card itself. */
  readonly card: string | JsonObject;
  /** The credentials. Default: none are sent. */
  readonly auth?: A2aAuth;
}

/**
 * The credentials for a server, with the fields of Gemini CLI's agent files. `$NAME` and `${NAME}` stand for a variable of
 * the user's environment, and `!command` for the output of a command. `$$` and `!!` begin a text with `$` or `!`.
 */
export type A2aAuth =
  /** A key in a header. */
  | {
      readonly type: 'apiKey';
      /** The key. */
      readonly key: string;
      /** The name of the header. Default: `X-API-Key`. */
      readonly name?: string;
    }
  /** A user and a password. */
  | {
      readonly type: 'http';
      readonly scheme: 'Basic';
      /** The name of the user. */
      readonly username: string;
      /** The password of the user. */
      readonly password: string;
    }
  /** The header `Authorization`. */
  | {
      readonly type: 'http';
      /** The scheme of the header, such as `Bearer`. */
      readonly scheme: string;
      /** The text after the scheme. */
      readonly value: string;
    };

/** The task that a request to a remote agent belongs to. */
export interface RemoteTask {
  /**
   * The program or server, from the agent's present definition; null if there is no such definition any more. The
   * definition in a log starts nothing, because a log may come from another machine.
   */
  readonly agent: RemoteAgent | null;
  /** The name of the agent. */
  readonly name: string;
  /** The file of the definition, for messages. */
  readonly path: string;
  /** True if the definition belongs to a project or a plugin, so that somebody else wrote it. */
  readonly isForeign: boolean;
  /** The instructions in the definition, which the first message contains. May be empty. */
  readonly instructions: string;
  /** The id of the task. */
  readonly task: string;
  /** The working directory. Absolute. */
  readonly cwd: string;
  /** The present rights of the task. */
  readonly rights: Rights;
  /** True if the task may change files in its roots and run commands, so that its program may do so itself. */
  readonly mayChange: boolean;
}

/** The names of the providers of the models that stand for remote agents: the names of the protocols. */
const REMOTE_PROVIDERS: ReadonlySet<string> = new Set<RemoteAgent['protocol']>(['acp', 'a2a']);

/** Tells whether a provider of a model is the protocol of a remote agent. */
export function isRemoteProvider(provider: string): boolean {
  return REMOTE_PROVIDERS.has(provider);
}
