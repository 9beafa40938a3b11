import { systemClock } from '../../base/clock.ts';
import { errorMessage } from '../../base/errors.ts';
import { userConfigDirectory } from '../../config/paths.ts';
import { Engine } from '../../engine/engine.ts';
import { createStreamRedactor } from '../../store/redact/redactor.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { isInContainer } from '../../sys/sandbox/diagnosis.ts';
import { builtinTools } from '../../tools/index.ts';
import { isTrustedMemory } from '../../trust/project-trust.ts';
import { LiveContext } from '../context/live-context.ts';
import { createReadFilter } from '../context/read-context-file.ts';
import type { MusterOptions } from '../setup/options.ts';
import { Retention } from '../setup/retention.ts';
import { announceMissingSandbox } from '../setup/sandbox.ts';
import { engineSettings } from '../setup/settings.ts';
import { ControlChannel } from './control-channel.ts';
import { NO_HISTORY, openPromptHistory } from './prompt-history.ts';
import { readSessionConfig, type SessionConfig } from './session-config.ts';
import { openSessionDefinitions } from './session-definitions.ts';
import { openSessionInbox } from './session-inbox.ts';
import { openSessionModels, type SessionModels } from './session-models.ts';
import type { SessionParts } from './session-parts.ts';
import { openSessionStorage } from './session-storage.ts';

/**
 * Reads the configuration, opens the store and creates the engine, and returns the parts that a session works with.
 * Throws UsageError for a wrong option or configuration.
 */
export async function openSessionParts(options: MusterOptions): Promise<SessionParts> {
  const keepsRecords = options.log !== false;
  const session = await readSessionConfig(options);
  const models = await openSessionModels(session, { preload: options.preload !== false });
  const definitions = await openSessionDefinitions(session, options.agents ?? []);
  const { agents, skills, loadTemplates } = definitions;
  const storage = openSessionStorage(session, { keepsRecords });
  const inbox = openSessionInbox(session, {
    questions: options.questions,
    keepsRecords,
    agents: agents.current.items,
  });
  const engine = await createEngine(options, { session, models, definitions, storage, inbox });
  const { directory, environment, loaded, onNotice, redact, roots } = session;
  const { config, settings } = loaded;
  const { store, router, signals, sandbox } = storage;
  const { mode } = config.permissions;
  return {
    engine,
    inbox,
    isOnAskChosen:
      options.questions !== undefined ||
      settings.get('permissions.on_ask')?.source.kind !== 'default',
    store,
    router,
    signals,
    sandbox,
    setup: models.setup,
    models: models.chooser,
    agents,
    skills,
    templates: loadTemplates,
    grant: {
      mode,
      rules: loaded.rules,
      roots,
      network: config.sandbox.network,
      maxDepth: config.taskTool.maxDepth,
    },
    channel: keepsRecords
      ? new ControlChannel({ engine, store, dataDir: directory, onNotice })
      : null,
    retention: new Retention({
      store,
      clock: systemClock,
      days: config.store.retentionDays,
      onNotice,
    }),
    maxTurns: options.maxTurns ?? null,
    modeFlag: settings.get('permissions.mode')?.source.kind === 'flag' ? mode : null,
    verbose: config.taskTool.enableVerboseLogging,
    environment,
    typed: keepsRecords
      ? openPromptHistory({ directory, cwd: roots[0], redact, onProblem: onNotice })
      : NO_HISTORY,
    keyBindings: config.keyBindings,
    notify: config.terminal.notify,
    onNotice,
  };
}

interface EngineParts {
  readonly session: SessionConfig;
  readonly models: SessionModels;
  readonly definitions: Awaited<ReturnType<typeof openSessionDefinitions>>;
  readonly storage: ReturnType<typeof openSessionStorage>;
  readonly inbox: SessionParts['inbox'];
}

async function createEngine(
  options: MusterOptions,
  { session, models, definitions, storage, inbox }: EngineParts,
): Promise<Engine> {
  const { directory, environment, loaded, onNotice, redact, roots, state } = session;
  const { agents, skills, templates, searchContext } = definitions;
  const { store, router, signals, sandbox } = storage;
  const { kind } = loaded.config.sandbox;
  const configDirectory = realPath(userConfigDirectory(state));
  const home = realPath(state.home);
  const git = await session.gitStatus;
  return new Engine({
    store,
    redactBytes: createStreamRedactor({ secrets: session.secrets }),
    redact,
    model: models.port,
    models: models.chooser,
    tools: builtinTools(),
    templates: templates.items,
    agents: { refresh: () => agents.refresh(), agents: () => agents.current.items },
    skills: { refresh: () => skills.refresh(), skills: () => skills.current.items },
    memory: {
      userDirectory: configDirectory,
      trusts: (index) => isTrustedMemory(index, session.currentTrust()),
    },
    context: new LiveContext({
      around: searchContext,
      home,
      environment,
      git: git === null ? null : redact(git),
      isWithheld: createReadFilter(loaded.rules, { roots, home }),
      redact,
      clock: systemClock,
      onNotice,
    }),
    clock: systemClock,
    deadlines: models.deadlines,
    settings: {
      ...engineSettings(loaded.config, {
        maxTurns: options.maxTurns ?? null,
        isAttended: options.attended ?? false,
      }),
      maxParallel: models.maxParallel,
    },
    platform: process.platform,
    home,
    stateDirectories: [directory, configDirectory],
    sandboxed: async () => (await sandbox.state()).on,
    machineIsSandbox: kind === 'container',
    inContainer: () => isInContainer(environment),
    sandbox: announceMissingSandbox(sandbox, { kind, onNotice }),
    inbox,
    onEvent: (event, of) => router.route(event, of),
    onSignal: (signal) => {
      if (signal.type === 'progress' && signal.tool === CODE_SEARCH) onNotice(signal.line);
      signals.route(signal);
    },
    onFault: (task, thrown) => onNotice(`task ${task}: ${errorMessage(thrown)}`),
  });
}

/** Resolves links, also in paths that do not exist yet: the paths of calls are compared with the result. */
function realPath(path: string): string {
  return resolveInRoots(path, []).real;
}
