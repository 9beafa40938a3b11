import type { ModelAvailability, Finding, LintContext } from '../../agents/lint/findings.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { createModelChooser } from '../../model/selection/model-chooser.ts';
import { OFFLINE } from '../../model/selection/choose-model.ts';
import { resolveMainModel } from '../../model/selection/resolve-model.ts';
import { discoverModels } from '../../model/discover-models.ts';
import { requestedModels, type AgentDefinition } from '../../protocol/agent.ts';
import type { A2aServer } from '../../protocol/remote-agent.ts';
import { modelName } from '../../protocol/model.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { readAccounts } from '../setup/accounts.ts';
import { createModelSettings } from '../setup/settings.ts';
import { type LoadedAgents, getDelegatedMode } from './load-agents.ts';
import { lintAgent, findMissingDelegates } from '../../agents/lint/lint-agent.ts';
import { createEnvironmentRedactor } from '../setup/secrets.ts';
import { findSecrets } from './find-secrets.ts';
import { outputSchemaProblem } from './output-schema.ts';

/** The context in which an agent is checked. */
interface LintedAgent extends Pick<LintContext, 'text' | 'shadowedBy' | 'clash' | 'shadows'> {
  /** The text of its file in which to search for secrets, or null to search for none. */
  readonly secretSource: string | null;
  /** The agents to which the agent can delegate. */
  readonly delegates: readonly AgentDefinition[];
}

/** Creates a function that checks agents with the configuration of their location. */
export async function createAgentLinter(
  loadedAgents: LoadedAgents,
): Promise<(agent: AgentDefinition, context: LintedAgent) => Promise<readonly Finding[]>> {
  const findOutlook = await createOutlookFinder(loadedAgents);
  const redact = createEnvironmentRedactor(loadedAgents.environment);
  return async (agent, { secretSource, delegates, ...rest }) =>
    lintAgent(agent, {
      ...rest,
      effectiveMode: getDelegatedMode(agent, loadedAgents),
      parentMode: loadedAgents.loadedConfig.config.permissions.mode,
      model: await findOutlook(agent),
      secrets:
        secretSource === null ? [] : findSecrets(secretSource, findSecretFields(agent), redact),
      outputSchemaProblem: await outputSchemaProblem(agent),
      missingDelegates: findMissingDelegates(agent, delegates),
    });
}

/** Returns the fields of a definition that may contain secrets. */
function findSecretFields({ extra, servers, remote }: AgentDefinition): JsonObject {
  return {
    ...extra,
    'mcp-servers': servers,
    ...(remote?.protocol === 'a2a' ? listWrittenSecrets(remote) : {}),
  };
}

/** Lists the credentials of a server that are not references. */
function listWrittenSecrets({ auth }: A2aServer): JsonObject {
  const { key, password, value: token }: Record<string, string> = auth ?? {};
  const written = Object.entries(dropMissing({ key, password, token }));
  return Object.fromEntries(written.filter(([, text]) => !/^(?:\$[^$]|![^!])/.test(text)));
}

/** Returns which model an agent would get, and a warning if it is not the requested model. */
type FindModelOutlook = (agent: AgentDefinition) => Promise<ModelAvailability>;

const UNKNOWN_OUTLOOK: ModelAvailability = { warning: null, isConfigured: false };

/**
 * Creates the function that finds the model of an agent. Asks local servers once for their models. If the configuration
 * has no model for the main agent, the function reports nothing about any agent.
 */
async function createOutlookFinder({
  loadedConfig,
  environment: env,
  directory,
}: Pick<LoadedAgents, 'loadedConfig' | 'environment' | 'directory'>): Promise<FindModelOutlook> {
  try {
    const fetch = createHttpFetch(env);
    const accounts = readAccounts(directory, () => {});
    const setup = await discoverModels(createModelSettings(loadedConfig), { env, fetch, accounts });
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
    return () => Promise.resolve(UNKNOWN_OUTLOOK);
  }
}
