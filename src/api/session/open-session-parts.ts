import { openSessionHooks } from './session-hooks.ts';
import type { HookRunner } from '../../hooks/hook-runner.ts';
import type { WebAccess } from '../../protocol/web.ts';
import type { SessionServers } from '../mcp/open-servers.ts';
import { findMainAgent, openSessionServers } from './session-servers.ts';
import { systemClock } from '../../base/clock.ts';
import { userConfigDirectory } from '../../config/paths.ts';
import { Engine } from '../../engine/engine.ts';
import { createStreamRedactor } from '../../store/redact/redactor.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { isInContainer } from '../../sys/sandbox/diagnosis.ts';
import { createRemoteTools } from '../../tools/remote/remote-tools.ts';
import { codeTool } from '../../tools/code/code.ts';
import { builtinTools } from '../../tools/index.ts';
import { createWebSearchTool } from '../../tools/web/web-search.ts';
import { isTrustedMemory } from '../../trust/project-trust.ts';
import { LiveContext } from '../context/live-context.ts';
import { createReadFilter } from '../context/read-context-file.ts';
import type { SessionOptions } from '../setup/options.ts';
import { Retention } from '../setup/retention.ts';
import { announceMissingSandbox } from '../setup/sandbox.ts';
import { createEngineSettings } from '../setup/settings.ts';
import { finishLandings, type SessionWorkspacePort } from '../workspaces/session-workspaces.ts';
import { openWorkspacesLater } from '../workspaces/open-later.ts';
import { openSessionRemoteAgents, type LateParts } from './session-remote-agents.ts';
import type { SessionRemoteAgents } from '../remote/open-remote-agents.ts';
import { openStorage } from './open-storage.ts';
import { openWorkspaces } from './open-workspaces.ts';
import { openSessionLanguages, type SessionLanguages } from '../setup/languages.ts';
import { openTelemetry, type SessionTelemetry } from '../setup/telemetry.ts';
import { loadWebAccess, openSearch } from '../setup/web.ts';
import { ControlChannel } from './control-channel.ts';
import { NO_HINT_USES, openHintUses } from './hint-uses.ts';
import { NO_HISTORY, openPromptHistory } from './prompt-history.ts';
import { NO_SCREEN_MARK, openScreenMark } from './screen-mark.ts';
import { openInbox } from './open-inbox.ts';
import { loadSessionDefinitions } from './session-definitions.ts';
import { readSessionConfig, type SessionConfig } from './session-config.ts';
import { openSessionModels, type SessionModels } from './session-models.ts';
import type { SessionParts } from './session-parts.ts';
import { homeDirectory, NO_HOME } from '../../sys/env.ts';
import { addProgramContext } from '../context/program-context.ts';
import { toRealPath } from '../../sys/files/real-path.ts';

/**
 * Reads the configuration, opens the store and creates the engine, and returns the parts that a session works with.
 * Throws UsageError for a wrong option or configuration.
 */
export async function openSessionParts(options: SessionOptions): Promise<SessionParts> {
  const session = await readSessionConfig(options);
  const late = Promise.withResolvers<LateParts>();
  const remoteAgents = openSessionRemoteAgents(session, late.promise);
  const models = await openSessionModels(session, {
    preload: options.preload !== false,
    remotePorts: remoteAgents.ports,
  });
  const definitions = await loadSessionDefinitions(session, options.agents ?? []);
  const { agents, skills, slashCommands, loadTemplates } = definitions;
  const storage = await openStorage(session, options);
  const { deadlines, portLimits } = models;
  late.resolve({ sandbox: storage.sandbox, deadlines, limits: portLimits });
  const { canWriteDataDir } = storage;
  const servers = await openSessionServers(session, {
    models,
    sandbox: storage.sandbox,
    canWriteDataDir: storage.canWriteDataDir,
    isAttended: options.attended ?? false,
    mainAgent: findMainAgent(options.mainAgent, agents.current.items),
    agents: () => agents.current.items,
  });
  const inbox = openInbox(session, {
    servers: servers.allParts,
    questions: options.questions,
    attended: options.attended ?? false,
    log: options.log,
    canWriteDataDir,
    agents: agents.current.items,
  });
  const languages = openSessionLanguages({
    ...session,
    home: session.state.home,
    pluginServers: session.plugins.languageServers,
    sandbox: storage.sandbox,
    trustsProject: options.trustProject === true,
    changes: storage.changes.load,
  });
  const workspaces = await openWorkspaces(session, options, {
    canWriteDataDir,
    agents: agents.current.items,
    programs: [servers, languages],
  });
  const web = loadWebAccess(session.environment);
  const hooks = await openSessionHooks(session, { sandbox: storage.sandbox, web });
  const telemetry = await openTelemetry(session, storage.store);
  const engine = await createEngine(options, {
    session,
    languages,
    models,
    remoteAgents,
    definitions,
    storage,
    inbox,
    servers,
    workspaces,
    web,
    hooks,
    telemetry,
  });
  const { directory, environment, loaded, onNotice, redact, roots } = session;
  const { config, settings } = loaded;
  const { store, changes, router, signals, sandbox } = storage;
  const { mode } = config.permissions;
  // The first prompt may contain the key, which is removed from logs and requests only if it is known by then.
  await models.keyRead;
  const stored = { store, dataDir: directory, environment, onNotice };
  const storedWorkspaces = openWorkspacesLater(stored);
  session.logFile?.start();
  return {
    engine,
    state: session.state,
    workspaces,
    worktree: options.worktree ?? null,
    inbox,
    hasExplicitOnAsk:
      options.questions !== undefined ||
      settings.get('permissions.on_ask')?.source.kind !== 'default',
    store,
    load: storage.load,
    changes,
    router,
    signals,
    sandbox,
    modelSetup: models.setup,
    models: models.chooser,
    modelListing: models.listing,
    agents,
    skills,
    slashCommands,
    toolTemplates: definitions.toolTemplates,
    templates: loadTemplates,
    grant: {
      mode,
      rules: loaded.rules,
      roots,
      network: config.sandbox.network,
      maxDepth: config.taskTool.maxDepth,
    },
    servers,
    languages,
    remoteAgents,
    hooks,
    telemetry,
    logFile: session.logFile,
    channel: canWriteDataDir
      ? new ControlChannel({ engine, store, dataDir: directory, onNotice })
      : null,
    retention: new Retention({
      store,
      clock: systemClock,
      days: config.store.retentionDays,
      workspaces: canWriteDataDir ? storedWorkspaces : null,
      onNotice,
    }),
    storedWorkspaces,
    maxTurns: options.maxTurns ?? null,
    modeFlag: settings.get('permissions.mode')?.source.kind === 'flag' ? mode : null,
    verbose: config.taskTool.enableVerboseLogging,
    hasUntrustedFiles: definitions.hasUntrustedFiles,
    promptHistory: canWriteDataDir
      ? openPromptHistory({ directory, cwd: roots[0], redact, onProblem: onNotice })
      : NO_HISTORY,
    keyBindings: config.keyBindings,
    terminal: config.terminal,
    configFiles: loaded.files,
    hintUses: canWriteDataDir ? openHintUses(directory, onNotice) : NO_HINT_USES,
    screenMark: canWriteDataDir ? openScreenMark(directory) : NO_SCREEN_MARK,
    rerun: async (id) => {
      const { rerunWithTools } = await import('../tasks/rerun.ts');
      const run = createEngineSettings(config, { maxTurns: null, isAttended: false });
      return rerunWithTools({ store, settings: run, programTools: session.program.tools }, id);
    },
    onNotice,
  };
}

type SessionDefinitions = Awaited<ReturnType<typeof loadSessionDefinitions>>;
type SessionStorage = Awaited<ReturnType<typeof openStorage>>;

interface EngineParts {
  readonly session: SessionConfig;
  readonly models: SessionModels;
  readonly remoteAgents: SessionRemoteAgents;
  readonly definitions: SessionDefinitions;
  readonly storage: SessionStorage;
  readonly inbox: SessionParts['inbox'];
  readonly servers: SessionServers;
  readonly languages: SessionLanguages;
  readonly workspaces: SessionWorkspacePort;
  readonly web: () => Promise<WebAccess>;
  readonly hooks: HookRunner;
  readonly telemetry: SessionTelemetry | null;
}

async function createEngine(options: SessionOptions, parts: EngineParts): Promise<Engine> {
  const { session, models, definitions, storage, inbox, servers, languages, telemetry } = parts;
  const { directory, environment, loaded, onNotice, redact, roots, state } = session;
  const { agents, skills, slashCommands, toolTemplates, searchContext } = definitions;
  const { store, changes, router, signals, sandbox } = storage;
  const { kind } = loaded.config.sandbox;
  const { clock = systemClock } = session.program;
  // Resolve links, because these directories are compared with the real paths in tool calls.
  const configDirectory = toRealPath(userConfigDirectory(state));
  // The home directory of the user is protected, even if a program runs without its files.
  const home = toRealPath(state.home === NO_HOME ? homeDirectory({}) : state.home);
  const git = await session.gitStatus;
  if (storage.canWriteDataDir)
    await finishLandings({ dataDir: directory, environment }, roots, onNotice);
  const remoteTools = createRemoteTools();
  const search = openSearch(loaded.config.web, environment, models);
  return new Engine({
    store,
    redactBytes: createStreamRedactor({ secrets: session.secrets }),
    redact,
    model: models.port,
    models: models.chooser,
    remoteAgents: {
      async endTask(id) {
        remoteTools.endTask(id);
        await parts.remoteAgents.endTask(id);
      },
    },
    tools: [
      ...builtinTools(),
      ...remoteTools.tools,
      ...(search === null ? [] : [createWebSearchTool(search)]),
      ...(languages.offersCode ? [codeTool] : []),
      ...session.program.tools,
    ],
    web: parts.web,
    hooks: parts.hooks,
    ...(languages.load === null ? {} : { languages: languages.load }),
    onCommand: languages.noteCommand,
    mcp: servers,
    workspaces: parts.workspaces,
    processes: { limits: loaded.config.process },
    templates: toolTemplates,
    agents: { refresh: () => agents.refresh(), agents: () => agents.current.items },
    skills: { refresh: () => skills.refresh(), skills: () => skills.current.items },
    slashCommands: {
      refresh: () => slashCommands.refresh(),
      commands: () => slashCommands.current,
    },
    memory: {
      userDirectory: configDirectory,
      trusts: (index) => isTrustedMemory(index, session.currentTrust()),
    },
    context: addProgramContext(
      new LiveContext({
        searchContext,
        home,
        environment,
        git: git === null ? null : redact(git),
        isExcluded: createReadFilter(loaded.rules, { roots, home }),
        redact,
        clock,
        onNotice,
      }),
      { texts: session.program.context, cwd: roots[0], onNotice },
    ),
    clock,
    deadlines: models.deadlines,
    settings: {
      ...createEngineSettings(loaded.config, {
        maxTurns: options.maxTurns ?? null,
        isAttended: options.attended ?? false,
      }),
      maxParallel: models.maxParallel,
    },
    platform: process.platform,
    environment: session.program.commandEnvironment ?? environment,
    home,
    stateDirectories: [directory, configDirectory],
    sandboxed: async () => (await sandbox.state()).on,
    machineIsSandbox: kind === 'container',
    inContainer: () => isInContainer(environment),
    changes: changes.load,
    sandbox: announceMissingSandbox(sandbox, { kind, onNotice }),
    inbox,
    ...(options.editor === undefined ? {} : { editor: options.editor }),
    ...(telemetry === null ? {} : { traceparent: telemetry.traceparentOf }),
    onEvent: (event, source) => {
      telemetry?.push(event, source.tree);
      session.logFile?.addEvent(event);
      router.route(event, source);
    },
    onSignal: (signal) => {
      if (signal.type === 'progress' && signal.tool === CODE_SEARCH) onNotice(signal.line);
      signals.route(signal);
    },
    onFault: session.onFault,
  });
}
