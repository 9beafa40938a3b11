import { isDeeperThan, type JsonObject } from '../../base/json.ts';
import { byteLength } from '../../base/text.ts';
import type { TaskSpec } from '../../protocol/task.ts';

/** The maximum size of a schema as JSON, in bytes. The schema is part of every request of its task. */
const MAX_BYTES = 65_536;
/** The maximum nesting of a schema. The limit protects the validator, which is recursive. */
const MAX_LEVELS = 64;

/**
 * Returns the schema that the answer of a task must be valid against: the schema of the Task call, or else that of
 * the agent's definition; null if there is none.
 */
export function outputSchemaOf({
  outputSchema,
  agent,
}: Pick<TaskSpec, 'outputSchema' | 'agent'>): JsonObject | null {
  return outputSchema ?? agent.outputSchema ?? null;
}

/** Returns the reason why a schema is too large to be used; null when its size is acceptable. */
export function findSizeProblem(schema: JsonObject): string | null {
  if (isDeeperThan(schema, MAX_LEVELS)) {
    return `is nested more than ${MAX_LEVELS} levels deep; use $defs and $ref instead`;
  }
  const bytes = byteLength(JSON.stringify(schema));
  return bytes <= MAX_BYTES ? null : `has ${bytes} bytes; at most ${MAX_BYTES} are allowed`;
}
