import type { ModelOutlook } from '../../agents/lint/findings.ts';
import { MusterError } from '../../base/errors.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { createChooser } from '../../model/chooser.ts';
import { OFFLINE } from '../../model/choose.ts';
import { resolveMain } from '../../model/resolve.ts';
import { discoverModels } from '../../model/setup.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import { modelName } from '../../protocol/model.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { modelSettings } from '../setup/settings.ts';
import type { AgentsHere } from './find-agents.ts';

/** Says of each agent whether its wish for a model can be met; local servers are asked once. */
export type ModelOutlooks = (agent: AgentDefinition) => Promise<ModelOutlook>;

const UNKNOWN: ModelOutlook = { warning: null, isConfigured: false };

/** With a configuration that gives the main agent no model, nothing is said of any agent's. */
export async function modelOutlooks({
  loaded,
  environment,
}: Pick<AgentsHere, 'loaded' | 'environment'>): Promise<ModelOutlooks> {
  try {
    const fetch = createHttpFetch(environment);
    const setup = await discoverModels(modelSettings(loaded), environment, fetch);
    const parent = resolveMain(setup, { agent: MAIN_AGENT, prompt: '' });
    const chooser = createChooser(setup, { allowOverride: true });
    const isConfigured = parent.provider !== OFFLINE;
    return async (agent) => {
      const definition = requestedModels(agent);
      await chooser.prepare(definition);
      const model = chooser.forTask({
        call: undefined,
        definition,
        agent,
        prompt: '',
        parent,
      });
      const warning = model instanceof MusterError ? model.message : model.warning;
      if (warning === undefined) return { warning: null, isConfigured };
      return { warning: `${warning}: ${modelName(parent)}.`, isConfigured };
    };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return () => Promise.resolve(UNKNOWN);
  }
}
