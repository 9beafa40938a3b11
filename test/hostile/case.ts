import type { ErrorCode } from '../../src/base/errors.ts';
import type { JsonValue } from '../../src/base/json.ts';
import type { DecisionStep } from '../../src/protocol/permission.ts';
import type { TaskStatus } from '../../src/protocol/result.ts';
import type { Answer } from '../../src/testing/index.ts';
import type { Person } from './person.ts';
import type { Entry } from './world.ts';

/** Ways in which text from outside could do harm. */
export const CLASSES = [
  'paths',
  'links and races',
  'shell judging',
  'agent inheritance',
  'trust',
  'web',
  'terminal',
  'secrets',
  'resources',
  'providers',
  'crashes',
] as const;
export type HostileClass = (typeof CLASSES)[number];

/**
 * One attempt, as data. In every string `@ws@`, `@home@`, `@out@`, `@tmp@`, `@data@`, `@root@` stand
 * for directories of the case's own world, `@canary@` for a text that must not leak, `@url@` for a
 * server of its own that counts what comes in, `@model@` for the model's server.
 */
export interface HostileCase {
  /** What is tried, with the advisory it is after where there is one. */
  readonly name: string;
  readonly class: HostileClass;
  /** It is no attack, and has to work. */
  readonly control?: true;
  /** Beside what every world has; by path from the world's root (`ws/a.txt`). */
  readonly files?: Readonly<Record<string, Entry>>;
  /** Variables of the product's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Settings;
  /** What the model does; in its calls `@id@` is the task that was named last in a result. */
  readonly model?: Script;
  /**
   * The built program instead of the library, one start after another, with these arguments. `@task@`
   * is the id of the newest task in the data directory.
   */
  readonly program?: readonly ProgramRun[];
  readonly expect: Expectation;
}

export interface Settings {
  readonly mode?: string;
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly addDirs?: readonly string[];
  /** Below the world's root; default `ws`. */
  readonly cwd?: string;
  readonly trustProject?: boolean;
  /** The agent that runs as main agent. */
  readonly agent?: string;
  /** Definitions as `--agents` takes them. */
  readonly agents?: Readonly<Record<string, JsonValue>>;
  readonly maxTurns?: number;
  /** What a person answers to every question (`always`: for that task); absent: nobody is there. */
  readonly person?: Person;
  /** Default: the product's own. */
  readonly prompt?: string;
}

export interface ProgramRun {
  readonly args: readonly string[];
  /** Done to the world before it is started. */
  readonly before?: readonly Act[];
  readonly stdin?: string;
  /** On a terminal, and not into pipes: what it shows is all in one. */
  readonly onTerminal?: true;
  /** Default: what the tests have. */
  readonly umask?: string;
  /** Default 0. */
  readonly exit?: number | readonly number[];
  readonly says?: readonly RegExp[];
  /** In neither of stdout and stderr. */
  readonly omits?: readonly RegExp[];
}

/** What the main agent and each subagent do; a subagent is known by `[NAME]` in its prompt. */
export interface Script {
  readonly main?: readonly Step[];
  readonly tasks?: Readonly<Record<string, readonly Step[]>>;
}

/** One answer of the model. After the last one it answers `done`. */
export interface Step {
  readonly calls?: readonly Call[];
  /** Everything else of the answer. */
  readonly answer?: Answer;
  /** What a request is answered with that is tried again. Default: the same. */
  readonly again?: Answer;
  /** Done to the world before the answer is given. */
  readonly before?: readonly Act[];
}

export interface Call {
  readonly name: string;
  readonly input: JsonValue;
}

export type Act =
  | { readonly put: string; readonly entry: Entry }
  | { readonly remove: string }
  | { readonly rename: readonly [from: string, to: string] }
  | { readonly append: string; readonly text: string }
  /** All but the last bytes. */
  | { readonly cut: string; readonly bytes: number }
  | { readonly replace: string; readonly from: string; readonly to: string }
  | { readonly mode: number; readonly of: string }
  /** From now on until the next answer the path is, in turn, itself and a link to the target. */
  | { readonly flip: string; readonly target: string };

/** `stopped`: it was refused or failed, whichever. */
export type CallEnd = 'ran' | 'failed' | 'refused' | 'stopped';

export type CallExpectation =
  | CallEnd
  | {
      readonly end: CallEnd;
      readonly step?: DecisionStep;
      readonly error?: ErrorCode;
      readonly says?: RegExp;
      readonly omits?: RegExp;
    };

export interface Expectation {
  /** Every call of the main agent, in order. Absent: not looked at. */
  readonly calls?: readonly CallExpectation[];
  /** The same of subagents, by name. */
  readonly tasks?: Readonly<Record<string, readonly CallExpectation[]>>;
  /**
   * All that may differ in the world afterwards (data directory aside): new content by path, null for
   * gone, true for whatever it is. Default: nothing differs.
   */
  readonly changes?: Readonly<Record<string, string | null | true>>;
  /** Directories in which anything may differ. */
  readonly changesBelow?: readonly string[];
  /** All that a person was asked, with the chain of agents. */
  readonly asked?: readonly { readonly chain: string; readonly subject: RegExp | string }[];
  /** The canary may stand in requests, results and logs. Default: nowhere. */
  readonly canaryMayShow?: true;
  /** Texts that stand in a request of the model, or in none. */
  readonly sent?: readonly (string | RegExp)[];
  readonly neverSent?: readonly (string | RegExp)[];
  /** The same of all that is kept in the data directory. */
  readonly kept?: readonly (string | RegExp)[];
  readonly neverKept?: readonly (string | RegExp)[];
  /** The keys in the headers of the model's requests, in order, without repetitions. No other header has one. */
  readonly keys?: readonly string[];
  /** Tools that requests of a task (`main`, or its name) have, or don't. */
  readonly offered?: Readonly<Record<string, readonly string[]>>;
  readonly notOffered?: Readonly<Record<string, readonly string[]>>;
  /** Of the main task; default `completed`. */
  readonly status?: TaskStatus;
  readonly answer?: string | RegExp;
  /** The start is refused, with that message. */
  readonly refusedStart?: RegExp;
  readonly notices?: readonly RegExp[];
  /** Requests that came to the case's own server. Default 0. */
  readonly hits?: number;
  /** Nobody else can read or write anything in the data directory. */
  readonly stateIsPrivate?: true;
  /** Model requests at most. */
  readonly mostRequests?: number;
  /** Megabytes by which the process may grow. */
  readonly mostMegabytes?: number;
}
