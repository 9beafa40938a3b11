import type { FlagName, FlagSpec } from './flags.ts';

/** A command as the user types it, and what goes with it. */
export interface CommandSpec {
  /** `agents list`; empty for a run. */
  readonly words: string;
  readonly summary: string;
  /** Names of the operands, in order; `[NAME]` may be left out, `NAME…` may be several. */
  readonly operands: readonly string[];
  readonly flags: readonly FlagName[];
  /** What its help says of a flag where the words for all commands would say too little. */
  readonly flagHelp?: Readonly<Partial<Record<FlagName, FlagWords>>>;
  readonly examples: readonly string[];
}

/** A flag in the words of one command. */
export type FlagWords = Pick<FlagSpec, 'help'> & Partial<Pick<FlagSpec, 'group' | 'value'>>;

/** What the last layer of the configuration is made of. */
export const CONFIG_FLAGS = [
  'model',
  'fallback-model',
  'permission-mode',
  'agent-mode',
  'allow',
  'ask',
  'deny',
  'on-ask',
  'sandbox',
  'max-tokens',
  'max-cost-usd',
  'max-wall-seconds',
  'max-tasks',
] as const satisfies readonly FlagName[];

/** Which conversation it is, as whom, what of it is shown and how, and what is kept. */
export const CONVERSATION_FLAGS = [
  'verbose',
  'continue',
  'resume',
  'screen-reader',
  'no-log',
  'agent',
  'agents',
] as const satisfies readonly FlagName[];

export const PROJECT_FLAGS = ['trust-project', 'cwd'] as const satisfies readonly FlagName[];
