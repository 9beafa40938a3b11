import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionMode } from '../../protocol/permission.ts';

/** `error`: it cannot work as it stands; `warning`: it will hardly do what was meant; `note`: worth knowing. */
export type Severity = 'error' | 'warning' | 'note';

/** One thing to know about an agent's file. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly path: string;
  /** From 1; null: the file as a whole. */
  readonly line: number | null;
  /** The agent's name; null where the file gave none. */
  readonly agent: string | null;
  /** What is the case, in one or two sentences. */
  readonly message: string;
  /** What to do about it, as a sentence; null: nothing has to be done. */
  readonly fix: string | null;
}

/** What a rule finds: the rest is the same for all findings of one file. */
export interface Lint extends Pick<Finding, 'code' | 'severity' | 'message' | 'fix'> {
  /** Absent: the file as a whole. */
  readonly line?: number | undefined;
}

/** A place in a file that holds what looks like a secret. */
export interface SecretPlace {
  readonly line: number;
  /** What it looks like, never the secret: `a key`, `the value of API_TOKEN`. */
  readonly what: string;
}

/** What becomes of a definition's wish for a model. */
export interface ModelOutlook {
  /** Why the wish cannot be met, and what is taken instead; null: it is met. */
  readonly warning: string | null;
  /** False: there is no provider at all, so that no wish can be met. */
  readonly isConfigured: boolean;
}

/** What is known of an agent beside its definition. */
export interface LintContext {
  /** The whole file; null where it came from none. */
  readonly text: string | null;
  /** The mode that it gets below the main agent. */
  readonly effectiveMode: PermissionMode;
  /** The main agent's own. */
  readonly parentMode: PermissionMode;
  readonly model: ModelOutlook;
  readonly secrets: readonly SecretPlace[];
  /** What is wrong with the schema of its answers; null: nothing, or it has none. */
  readonly outputSchemaProblem: string | null;
  /** Agents that it names to delegate to, and that are not there. */
  readonly missingDelegates: readonly string[];
  /** The one of the same name that is used in its place; null: it is used itself. */
  readonly shadowedBy: AgentDefinition | null;
  /** What another one that answers to its id keeps it from, as a sentence; null: none does. */
  readonly clash: string | null;
  /** Those of the same name that it keeps from being used. */
  readonly shadows: readonly AgentDefinition[];
}
