import type { ModelAvailability, Finding, LintContext } from '../../agents/lint/findings.ts';
import { MusterError } from '../../base/errors.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { createModelChooser } from '../../model/selection/model-chooser.ts';
import { OFFLINE } from '../../model/selection/choose-model.ts';
import { resolveMainModel } from '../../model/selection/resolve-model.ts';
import { discoverModels } from '../../model/discover-models.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import { modelName } from '../../protocol/model.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { modelSettings } from '../setup/settings.ts';
import { type LoadedAgents, delegatedAgentMode } from './load-agents.ts';
import { lintAgent, findMissingDelegates } from '../../agents/lint/lint-agent.ts';
import { createEnvironmentRedactor } from '../setup/secrets.ts';
import { findSecrets } from './find-secrets.ts';
import { outputSchemaProblem } from './output-schema.ts';

/** The particulars of an agent that is linted: its text (null: not known) and the agents beside it. */
interface LintedAgent extends Pick<LintContext, 'text' | 'shadowedBy' | 'clash' | 'shadows'> {
  /** The text of its file in which secrets are looked for, or null for none. */
  readonly source: string | null;
  /** The agents to which it may delegate. */
  readonly known: readonly AgentDefinition[];
}

/** Creates a function that lints agents with the configuration of a place. */
export async function createAgentLinter(
  here: LoadedAgents,
): Promise<(agent: AgentDefinition, particulars: LintedAgent) => Promise<readonly Finding[]>> {
  const outlook = await createModelOutlooks(here);
  const redact = createEnvironmentRedactor(here.environment);
  return async (agent, { source, known, ...rest }) =>
    lintAgent(agent, {
      ...rest,
      effectiveMode: delegatedAgentMode(agent, here),
      parentMode: here.loaded.config.permissions.mode,
      model: await outlook(agent),
      secrets: source === null ? [] : findSecrets(source, agent.extra, redact),
      outputSchemaProblem: await outputSchemaProblem(agent),
      missingDelegates: findMissingDelegates(agent, known),
    });
}

/** Returns whether the model that an agent requests is available. Local servers are asked once. */
type ModelOutlooks = (agent: AgentDefinition) => Promise<ModelAvailability>;

const UNKNOWN: ModelAvailability = { warning: null, isConfigured: false };

/**
 * Creates the outlooks. If the configuration gives the main agent no model, nothing is said about any agent's model.
 */
async function createModelOutlooks({
  loaded,
  environment,
}: Pick<LoadedAgents, 'loaded' | 'environment'>): Promise<ModelOutlooks> {
  try {
    const fetch = createHttpFetch(environment);
    const setup = await discoverModels(modelSettings(loaded), environment, fetch);
    const parent = resolveMainModel(setup, { agent: MAIN_AGENT, prompt: '' });
    const chooser = createModelChooser(setup, { allowOverride: true });
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
