import type { AgentDefinition } from '../../protocol/agent.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { normalizeFieldName } from '../fields/field-reader.ts';

/** `error`: it cannot work as it is; `warning`: it probably does not do what its author meant; `note`: good to know. */
export type Severity = 'error' | 'warning' | 'note';

/** A finding about the file of an agent. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly path: string;
  /** The line in the file, from 1, or null if the finding concerns the full file. */
  readonly line: number | null;
  /** The name of the agent. Null when the file could not be loaded. */
  readonly agent: string | null;
  /** The finding in one or two sentences. */
  readonly message: string;
  /** A sentence that says what to do. Null when there is nothing to do. */
  readonly fix: string | null;
}

/** The part of a finding that a lint rule provides: the rest is the same for all findings of a file. */
export interface Lint extends Pick<Finding, 'code' | 'severity' | 'message' | 'fix'> {
  /** Default: it concerns the file as a whole. */
  readonly line?: number | undefined;
}

/** A line in a file that contains something that looks like a secret. */
export interface SecretLocation {
  readonly line: number;
  /** A description that never contains the secret: `a key`, `the value of API_TOKEN`. */
  readonly what: string;
}

/** The result of resolving the model that a definition requests. */
export interface ModelAvailability {
  /** The reason why the requested model is not available, and the model used instead. Null when it is available. */
  readonly warning: string | null;
  /** False: no provider is configured at all. */
  readonly isConfigured: boolean;
}

/** The facts that lint rules use besides the definition of an agent. */
export interface LintContext {
  /** The full text of the file. Null when the agent does not come from a file. */
  readonly text: string | null;
  /** The mode that it gets when the main agent delegates to it. */
  readonly effectiveMode: PermissionMode;
  /** The mode of the main agent. */
  readonly parentMode: PermissionMode;
  readonly model: ModelAvailability;
  readonly secrets: readonly SecretLocation[];
  /** The problem of the schema of its answers. Null when there is no problem, or no schema. */
  readonly outputSchemaProblem: string | null;
  /** Agents that it may delegate to and that do not exist. */
  readonly missingDelegates: readonly string[];
  /** The agent of the same name that is used instead. Null when it is used itself. */
  readonly shadowedBy: AgentDefinition | null;
  /** A sentence about another agent that has its id. Null when there is none. */
  readonly clash: string | null;
  /** The agents of the same name that it shadows. */
  readonly shadows: readonly AgentDefinition[];
}

/** `name:` in YAML, `"name":` in JSON, or `name =` in TOML, at the beginning of a line. */
const ENTRY = /^\s*(?:- )?["']?([A-Za-z][\w.-]*)["']?\s*[:=]/;
/** The number of lines that are searched: fields are at the top of a file, and a prompt may contain anything. */
const MAX_LINES = 400;

/**
 * Finds the line, from 1, of a field with one of these names in any spelling. It is a guess from the form of the
 * line, good enough to show a person. Undefined: there is none.
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
