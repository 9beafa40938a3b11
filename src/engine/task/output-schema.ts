import { isDeeperThan, type JsonObject } from '../../base/json.ts';
import { byteLength } from '../../base/text.ts';
import type { TaskSpec } from '../../protocol/task.ts';

/** Bytes of a schema as JSON: it stands in every request of its task. */
const MOST_BYTES = 65_536;
/** Objects and lists within each other: no form of an answer is deeper, and checks call themselves. */
const MOST_LEVELS = 64;

/** The schema that a task's answer must be valid against: the call's, else its definition's. */
export function outputSchemaOf({
  outputSchema,
  agent,
}: Pick<TaskSpec, 'outputSchema' | 'agent'>): JsonObject | null {
  return outputSchema ?? agent.outputSchema ?? null;
}

/** Why a schema can't be taken, whatever it says; null: it can be looked at. */
export function findSizeProblem(schema: JsonObject): string | null {
  if (isDeeperThan(schema, MOST_LEVELS)) {
    return `is nested more than ${MOST_LEVELS} levels deep; say the same with $defs and $ref`;
  }
  const bytes = byteLength(JSON.stringify(schema));
  return bytes <= MOST_BYTES ? null : `has ${bytes} bytes; at most ${MOST_BYTES} are taken`;
}
