import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import type { ModelSetup } from '../../model/choose.ts';
import { resolveForTask, resolveMain } from '../../model/resolve.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { ResolvedModel } from '../../protocol/model.ts';

/**
 * The model of a root task; `agent` null: the main agent. With a named one its definition's wish stands where
 * the user named no model.
 */
export function rootModel(
  setup: ModelSetup,
  { agent, prompt }: { readonly agent: AgentDefinition | null; readonly prompt: string },
): ResolvedModel {
  const main = resolveMain(setup, { agent: agent ?? MAIN_AGENT, prompt });
  if (agent === null || requestedModels(agent).length === 0 || setup.settings.flag !== undefined) {
    return main;
  }
  const model = resolveForTask(setup, {
    call: undefined,
    definition: requestedModels(agent),
    agent,
    prompt,
    parent: main,
    allowOverride: true,
  });
  if (model instanceof Error) throw model;
  return model;
}
