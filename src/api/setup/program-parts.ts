import type { Clock } from '../../base/clock.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { HookDefinition } from '../../hooks/hook-definition.ts';
import type { Environment } from '../../sys/env.ts';
import type { StorePort } from '../../protocol/store-port.ts';
import type { OwnModel } from '../../model/own-models.ts';

/** A text that a program adds to the context of its tasks. */
export interface ProgramContext {
  /** The name under which prompts show the text. */
  readonly name: string;
  /** Returns the text, or null for none. Called before each task is created. */
  read(cwd: string): string | null | Promise<string | null>;
}

/** The tools, models, settings and texts that a program brings to a session. */
export interface ProgramParts {
  /** Tools of the program. The main agent and agents with all tools have them, and others that name them. */
  readonly tools: readonly AnyTool[];
  readonly models: readonly OwnModel[];
  /** A configuration with the sections and keys of `config.toml`. It takes precedence over files and the environment. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly context: readonly ProgramContext[];
  /** Functions of the program that run as hooks, before those of files. */
  readonly hooks: readonly HookDefinition[];
  /** The variables from which commands get theirs. Default: those of the session. */
  readonly commandEnvironment?: Environment;
  /** The clock for the times of events and results. Default: that of the system. */
  readonly clock?: Clock;
  /** The store of the program. Default: the data directory, or memory. */
  readonly store?: ProgramStorePart;
}

/** A store that a program brings. */
export interface ProgramStorePart {
  readonly port: StorePort;
  /** Called when the stop of a task was requested in the store. */
  readonly onCancelRequested: (id: string) => void;
}

/** The parts of a session that no program has opened. */
export const NO_PROGRAM: ProgramParts = {
  tools: [],
  models: [],
  config: {},
  context: [],
  hooks: [],
};
