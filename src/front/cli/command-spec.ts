import type { FlagName } from './flags.ts';

/** A command as the user types it, and what goes with it. */
export interface CommandSpec {
  /** `agents list`; empty for a run. */
  readonly words: string;
  readonly summary: string;
  /** Names of the operands, in order; `[NAME]` may be left out, `NAME…` may be several. */
  readonly operands: readonly string[];
  readonly flags: readonly FlagName[];
  readonly examples: readonly string[];
}

/** What the last layer of the configuration is made of. */
export const CONFIG_FLAGS = [
  'model',
  'permission-mode',
  'allow',
  'ask',
  'deny',
  'on-ask',
  'max-tokens',
  'max-cost-usd',
] as const satisfies readonly FlagName[];

export const PROJECT_FLAGS = ['trust-project', 'cwd'] as const satisfies readonly FlagName[];
