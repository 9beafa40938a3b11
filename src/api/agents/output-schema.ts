import { findSchemaProblem } from '../../engine/structured/check-answer.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';

/** Describes the mistake in the output schema of an agent. Returns null if there is none. */
export async function outputSchemaProblem({
  outputSchema,
}: Pick<AgentDefinition, 'outputSchema'>): Promise<string | null> {
  return outputSchema === undefined ? null : await findSchemaProblem(outputSchema);
}
