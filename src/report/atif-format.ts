import { isJsonObject, type JsonObject } from '../base/json.ts';

/**
 * The version of the Agent Trajectory Interchange Format (ATIF) of Harbor and Terminal-Bench. Version 1.8 only adds audio,
 * and its readers read 1.7, too.
 */
export const ATIF_VERSION = 'ATIF-v1.7';

/** A task as a trajectory. Only the fields that Muster writes are listed, with the names of the format. */
export interface AtifTrajectory {
  readonly schema_version: typeof ATIF_VERSION;
  /** The id of the root task. */
  readonly session_id: string;
  /** The id of the task. */
  readonly trajectory_id: string;
  readonly agent: AtifAgent;
  /** At least one. */
  readonly steps: readonly AtifStep[];
  readonly notes?: string;
  readonly final_metrics: AtifFinalMetrics;
  readonly extra: JsonObject;
  /** The children of the task. Absent if there are none. */
  readonly subagent_trajectories?: readonly AtifTrajectory[];
}

export interface AtifAgent {
  readonly name: string;
  readonly version: string;
  readonly model_name: string;
  /** The tools in the form of OpenAI's function calls. */
  readonly tool_definitions?: readonly JsonObject[];
  readonly extra: JsonObject;
}

/** A system prompt, a message to the agent, or an answer with the results of its calls. */
export interface AtifStep {
  /** The number of the step, from 1. */
  readonly step_id: number;
  /** A time in ISO 8601. */
  readonly timestamp?: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly message: string;
  /** The fields from here to `metrics` are only those of an agent's step. */
  readonly model_name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifToolCall[];
  readonly metrics?: AtifMetrics;
  readonly observation?: { readonly results: readonly AtifObservationResult[] };
  /** True if the step is from another task: from the conversation that the task continues, or a result that was reused. */
  readonly is_copied_context?: true;
  /** The number of requests to a model. Absent for a copied answer, which had no request in this task. */
  readonly llm_call_count?: 1;
  readonly extra?: JsonObject;
}

/** The change of the context that a step of the system made, under the name that the format proposes. */
export interface AtifContextManagement extends JsonObject {
  readonly context_management: {
    /** `compaction`: a summary took the place of messages. `pruning`: they were removed. `injection`: text was added. */
    readonly type: 'compaction' | 'pruning' | 'injection';
    /** `truncate`: the messages before the newest ones are gone or shorter. `append`: nothing is gone. */
    readonly boundary: 'truncate' | 'append';
  };
}

export interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: JsonObject;
}

export interface AtifObservationResult {
  /** The call of the same step. Absent for an event that no call caused. */
  readonly source_call_id?: string;
  readonly content?: string;
  /** The children that the call created or resumed, each in `subagent_trajectories` of the trajectory. */
  readonly subagent_trajectory_ref?: readonly { readonly trajectory_id: string }[];
}

export interface AtifMetrics {
  /** All tokens of the prompt, including those from a cache. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** The part of `prompt_tokens` that was read from a cache. */
  readonly cached_tokens: number;
  /** Absent if no price is known. */
  readonly cost_usd?: number;
  readonly extra: JsonObject;
}

export interface AtifFinalMetrics {
  /** The sums over the steps. */
  readonly total_prompt_tokens: number;
  readonly total_completion_tokens: number;
  readonly total_cached_tokens: number;
  /** The cost of the task without its children. Absent if a price is not known. */
  readonly total_cost_usd?: number;
  readonly total_steps: number;
  readonly extra: JsonObject;
}

/**
 * Formats a trajectory as JSON. Half characters, which a cut can leave in a text, become U+FFFD, because programs in
 * other languages refuse them.
 */
export function formatTrajectory(trajectory: AtifTrajectory): string {
  return JSON.stringify(trajectory, toWellFormed, 2);
}

function toWellFormed(_: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (!isJsonObject(value) || Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), part]));
}
