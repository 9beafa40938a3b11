import { findSchemaProblem } from '../../engine/structured/check-answer.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/** What is wrong with the schema of an agent's answers; null: nothing, or it has none. */
export async function outputSchemaProblem({
  outputSchema,
}: Pick<AgentDefinition, 'outputSchema'>): Promise<string | null> {
  return outputSchema === undefined ? null : await findSchemaProblem(outputSchema);
}
