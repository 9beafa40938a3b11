import { systemClock } from '../../base/clock.ts';
import { Deadlines } from '../../base/deadlines.ts';
import { VERSION } from '../../base/version.ts';
import type { ModelChooser } from '../../engine/task/deps.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { limitByOpenFiles } from '../setup/parallel-limits.ts';
import { loadKeyReader, readAccounts } from '../setup/accounts.ts';
import { createLazyFinder } from '../setup/listed-finder.ts';
import { listSecretForms } from '../setup/secrets.ts';
import { createModelPortLimits, createModelSettings } from '../setup/settings.ts';
import type { ModelListDeps } from './session-model-lists.ts';
import type { SessionConfig } from './session-config.ts';
import type { SessionRemoteAgents } from '../remote/open-remote-agents.ts';
import type { ConfiguredProvider } from '../../model/providers/configured-provider.ts';
import type { KeyReader } from '../../protocol/api-key.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { OFFLINE, type ModelSetup } from '../../model/selection/choose-model.ts';
import { createModelPort, type ConnectedModels } from '../../model/model-port.ts';
import { discoverModels } from '../../model/discover-models.ts';
import { createOwnPort, createOwnProvider, OWN_PROVIDER } from '../../model/own-models.ts';
import type { LivenessLimits } from '../../model/watchdog.ts';
import { resolveMainModel } from '../../model/selection/resolve-model.ts';
import { createModelChooser, type FindListedModel } from '../../model/selection/model-chooser.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { readOpenFileLimit } from '../../sys/processes/open-file-limit.ts';

/** The models of a session and the connections to their providers. */
export interface SessionModels {
  readonly setup: ModelSetup;
  readonly chooser: ModelChooser;
  readonly port: ConnectedModels;
  readonly deadlines: Deadlines;
  /** The limits on the silence of models. */
  readonly portLimits: LivenessLimits;
  readonly maxParallel: number;
  /** The parts that are needed to list the models of the providers. */
  readonly listing: ModelListDeps;
  /** Resolves when the key of the main agent's provider was read, or could not be read. */
  readonly keyRead: Promise<void>;
  /** The model of the main agent. */
  readonly main: ResolvedModel;
}

/** The time after which a notice says that a key is being read. */
const KEY_NOTICE_MS = 3_000;

/**
 * Finds the configured models and prepares the connections to their providers. With `preload`, the code and the key
 * that the first request needs are loaded while the rest of the session is opened. Throws UsageError if no model can be
 * used.
 */
export async function openSessionModels(
  { environment, state, directory, loaded, program, onNotice, secrets }: SessionConfig,
  {
    preload,
    remotePorts,
  }: {
    readonly preload: boolean;
    /** The functions that load the ports to remote agents, by provider. */
    readonly remotePorts: SessionRemoteAgents['ports'];
  },
): Promise<SessionModels> {
  const { config } = loaded;
  const fetch = createHttpFetch(environment);
  const deadlines = new Deadlines(systemClock);
  const addSecret = (key: string): void => {
    if (!secrets.includes(key)) secrets.push(...listSecretForms(key));
  };
  const accounts = readAccounts(directory, onNotice, state);
  for (const { key } of accounts) if (key !== null) addSecret(key);
  const setup = await discoverModels(createModelSettings(loaded), {
    env: environment,
    fetch,
    accounts,
    ...(program.models.length === 0 ? {} : { own: createOwnProvider(program.models) }),
  });
  // The name of a variable in `api_key_env` need not say that it holds a secret.
  for (const { apiKey } of setup.providers) if (apiKey !== null) addSecret(apiKey);
  const main = resolveMainModel(setup, { agent: MAIN_AGENT, prompt: '' });
  for (const problem of setup.problems ?? []) onNotice(problem);
  const limits = limitByOpenFiles(
    {
      maxParallel: config.taskTool.maxParallel,
      maxConcurrent: config.provider.maxConcurrent,
    },
    readOpenFileLimit(),
  );
  if (limits.notice !== null) onNotice(limits.notice);
  const chooser = createModelChooser(setup, {
    allowOverride: config.taskTool.allowModelOverride,
    findListed:
      program.models.length === 0
        ? createLazyFinder(directory, onNotice)
        : findOnServers(createLazyFinder(directory, onNotice)),
  });
  const keys = loadKeyReader({
    environment,
    home: state.home,
    clock: systemClock,
    fetch,
    onKey: addSecret,
    onNotice,
  });
  const portLimits = createModelPortLimits(config);
  const port = createModelPort({
    fetch,
    clock: systemClock,
    deadlines,
    version: VERSION,
    providers: setup.providers,
    limits: portLimits,
    admission: {
      maxConcurrent: limits.maxConcurrent,
      requestsPerMinute: config.provider.requestsPerMinute,
    },
    localPorts: {
      ...remotePorts,
      [OFFLINE]: loadOfflineModel,
      // Without models of a program, a configured server may have this name.
      ...(program.models.length === 0
        ? {}
        : {
            [OWN_PROVIDER]: () =>
              Promise.resolve(
                createOwnPort(program.models, {
                  clock: systemClock,
                  deadlines,
                  limits: portLimits,
                }),
              ),
          }),
    },
    attachments: (model) => chooser.attachments(model),
    keys,
  });
  if (preload) port.preload(main);
  const provider = setup.providers.find(({ name }) => preload && name === main.provider);
  const keyRead = readKeyEarly(provider, keys, onNotice);
  const listing = { setup, fetch, keys, directory };
  return {
    setup,
    chooser,
    port,
    deadlines,
    portLimits,
    maxParallel: limits.maxParallel,
    listing,
    keyRead,
    main,
  };
}

/** Reads the key of a provider that is not known from the start. The first request reports a failure. */
async function readKeyEarly(
  provider: ConfiguredProvider | undefined,
  keys: KeyReader,
  onNotice: SessionConfig['onNotice'],
): Promise<void> {
  if (provider?.keySource === undefined) return;
  const { keyFrom, keySource } = provider;
  const timer = setTimeout(
    () => onNotice(`Waiting for the key from ${keyFrom}. Something may have to be unlocked.`),
    KEY_NOTICE_MS,
  );
  await keys.read(keySource).catch(() => {});
  clearTimeout(timer);
}

/** Looks for models only in the lists of servers: the models of a program have none. */
function findOnServers(find: FindListedModel): FindListedModel {
  return async (provider, id) => (provider.name === OWN_PROVIDER ? null : find(provider, id));
}

async function loadOfflineModel() {
  const { createOfflineModel } = await import('../../model/offline/engine.ts');
  return createOfflineModel();
}
