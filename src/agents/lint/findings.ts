import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { normalizeFieldName } from '../fields/field-reader.ts';

/**
 * The severity of a finding. With an `error`, the agent cannot work. With a `warning`, the agent probably does not do
 * what its author meant. A `note` is for information.
 */
export type Severity = 'error' | 'warning' | 'note';

/** A finding about the file of an agent. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly path: string;
  /** The line in the file, from 1, or null if the finding concerns the full file. */
  readonly line: number | null;
  /** The name of the agent, or null if the file could not be loaded. */
  readonly agent: string | null;
  /** The finding in one or two sentences. */
  readonly message: string;
  /** A sentence that says what to do, or null if there is nothing to do. */
  readonly fix: string | null;
}

/** The part of a finding that a lint rule provides. The other fields are the same for all findings of a file. */
export interface Lint extends Pick<Finding, 'code' | 'severity' | 'message' | 'fix'> {
  /** The line in the file. Default: the finding concerns the full file. */
  readonly line?: number | undefined;
}

/** A line in a file with a text that looks like a secret. */
export interface SecretLocation {
  readonly line: number;
  /** A description of the secret, without the secret itself: `a key`, `the value of API_TOKEN`. */
  readonly what: string;
}

/** The availability of the model that a definition requests. */
export interface ModelAvailability {
  /**
   * The reason why the requested model is not available, and the model that is used instead. Null if the model is
   * available.
   */
  readonly warning: string | null;
  /** Whether at least one provider is configured. */
  readonly isConfigured: boolean;
}

/** The data that lint rules use in addition to the definition of an agent. */
export interface LintContext {
  /** The full text of the file, or null if the agent does not come from a file. */
  readonly text: string | null;
  /** The mode that the agent gets if the main agent delegates to it. */
  readonly effectiveMode: PermissionMode;
  /** The mode of the main agent. */
  readonly parentMode: PermissionMode;
  readonly model: ModelAvailability;
  readonly secrets: readonly SecretLocation[];
  /** The problem of the schema of the agent's answers, or null if there is no problem or no schema. */
  readonly outputSchemaProblem: string | null;
  /** The names of agents that it may delegate to, but that do not exist. */
  readonly missingDelegates: readonly string[];
  /** The agent with the same name that is used instead, or null if this agent is used. */
  readonly shadowedBy: AgentDefinition | null;
  /** A sentence about another agent with the same id, or null if there is none. */
  readonly clash: string | null;
  /** The agents with the same name that are not used because of this agent. */
  readonly shadows: readonly AgentDefinition[];
}

/** Matches a field at the beginning of a line: `name:` in YAML, `"name":` in JSON, or `name =` in TOML. */
const ENTRY = /^\s*(?:- )?["']?([A-Za-z][\w.-]*)["']?\s*[:=]/;
/**
 * The number of lines that are searched. Fields are at the top of a file, and the prompt below may contain similar
 * lines.
 */
const MAX_LINES = 400;

/**
 * Finds the line (from 1) of a field with one of these names in any spelling. The result is a guess from the form of
 * the line, which is sufficient for a message. Returns undefined if there is no such line.
 */
export function findFieldLine(text: string | null, names: readonly string[]): number | undefined {
  if (text === null) return undefined;
  const wanted = new Set(names.map(normalizeFieldName));
  const lines = text.split('\n', MAX_LINES);
  const index = lines.findIndex((line) => {
    const name = ENTRY.exec(line)?.[1];
    return name !== undefined && wanted.has(normalizeFieldName(name));
  });
  return index === -1 ? undefined : index + 1;
}
