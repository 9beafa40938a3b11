import { homedir } from 'node:os';
import { systemClock } from '../../base/clock.ts';
import { Deadlines } from '../../base/deadlines.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { Engine } from '../../engine/engine.ts';
import { Inbox } from '../../engine/task/inbox.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { AGENTS, SKILLS, TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { createChooser } from '../../model/chooser.ts';
import { createModelPort } from '../../model/connect.ts';
import { OFFLINE } from '../../model/choose.ts';
import { resolveMain } from '../../model/resolve.ts';
import { discoverModels } from '../../model/setup.ts';
import { openMemoryStore } from '../../store/memory-store.ts';
import { createRedactor, createStreamRedactor } from '../../store/redact.ts';
import { readEnvironment } from '../../sys/env.ts';
import { readOpenFileLimit } from '../../sys/processes/open-file-limit.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { builtinTools } from '../../tools/index.ts';
import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { ControlChannel } from './control-channel.ts';
import { admit } from '../setup/admission.ts';
import { openDefinitions } from '../setup/definitions.ts';
import { LiveContext } from '../context/open-context.ts';
import { gitAtStart } from '../context/git-at-start.ts';
import { withheldFrom } from '../context/withheld.ts';
import { loadConfig } from '../../config/load.ts';
import { userConfigDir } from '../../config/paths.ts';
import { describeProblem } from '../../config/source.ts';
import { openDataDir } from '../setup/data-dir.ts';
import { EventRouter } from './event-router.ts';
import { SignalRouter } from './signal-router.ts';
import type { MusterOptions } from '../setup/options.ts';
import { Retention } from '../setup/retention.ts';
import { rulesWithoutEffect } from '../setup/rules-without-effect.ts';
import { configuredModes, modeGrantStore } from '../../trust/mode-grants.ts';
import { openSavedModes } from '../../trust/saved-modes.ts';
import { openSavedAnswers } from '../../trust/saved-answers.ts';
import { isInContainer } from '../../sys/sandbox/machine-facts.ts';
import { announced, sandboxOf } from '../setup/sandbox.ts';
import { secretsOf } from '../setup/secrets.ts';
import { NO_HISTORY, openTypedHistory } from './typed-history.ts';
import type { SessionParts } from './session-parts.ts';
import { connectLimits, engineSettings, modelSettings } from '../setup/settings.ts';
import { stateDirectory } from '../../trust/state-place.ts';
import { isTrustedMemory } from '../../trust/trusted-memory.ts';
import { untrustedNotice } from '../../trust/notice.ts';
import { trustFile } from '../../trust/trust-store.ts';
import { projectTrust } from '../../trust/project-trust.ts';
import { standingRules } from '../../trust/standing-rules.ts';
import { workspaceRoots } from '../setup/workspace.ts';

/**
 * Reads the configuration, opens the store and creates the engine, and returns the parts that a session works with.
 * Throws UsageError for a wrong option or configuration.
 */
export async function openSessionParts(options: MusterOptions): Promise<SessionParts> {
  const environment = options.environment ?? readEnvironment();
  const place = { environment, home: environment['HOME'] || homedir() };
  const roots = workspaceRoots(options.cwd ?? process.cwd(), options.addDirs ?? []);
  const [cwd] = roots;
  // Git says how it stands while the rest is read.
  const snapshot = gitAtStart(cwd, environment);
  const secrets = secretsOf(environment);
  const redact = createRedactor({ secrets });
  const onNotice = (line: string) => options.onNotice?.(redact(line));
  const { dataDir } = options;
  const state = { ...place, cwd, ...(dataDir === undefined ? {} : { dataDir }) };
  const decision = options.trustProject ?? false;
  const trust = projectTrust({ ...state, decision, onProblem: onNotice });
  const loaded = await loadConfig({ ...place, cwd, trust, flags: options.flags ?? [] });
  for (const { where, message } of loaded.notices) onNotice(`${where}: ${message}`);
  const { config } = loaded;
  const fetch = createHttpFetch(environment);
  const deadlines = new Deadlines(systemClock);
  const setup = await discoverModels(modelSettings(loaded), environment, fetch);
  const main = resolveMain(setup, { agent: MAIN_AGENT, prompt: '' });
  for (const problem of setup.problems ?? []) onNotice(problem);
  const admitted = admit(
    { maxParallel: config.taskTool.maxParallel, maxConcurrent: config.provider.maxConcurrent },
    readOpenFileLimit(),
  );
  if (admitted.notice !== null) onNotice(admitted.notice);
  const chooser = createChooser(setup, {
    allowOverride: config.taskTool.allowModelOverride,
  });
  const models = createModelPort({
    fetch,
    clock: systemClock,
    deadlines,
    version: VERSION,
    providers: setup.providers,
    limits: connectLimits(config),
    admission: {
      maxConcurrent: admitted.maxConcurrent,
      requestsPerMinute: config.provider.requestsPerMinute,
    },
    others: { [OFFLINE]: loadOffline },
    attachments: (model) => chooser.attachments(model),
  });
  // What the first request needs loads while the agents are read.
  if (options.preload !== false) models.preload(main.provider);
  const directory = stateDirectory(state);
  const files = {
    cwd,
    environment,
    trust,
    // Files that have been trusted since are used, too.
    currentTrust: () => projectTrust({ ...state, decision, onProblem: onNotice }),
    dependsOn: [trustFile(directory)],
    clock: systemClock,
    onNotice,
  };
  const around = createSearchContext(cwd, environment);
  const session = options.agents ?? [];
  const agents = await openDefinitions(AGENTS, { ...files, context: around, session });
  const skills = await openDefinitions(SKILLS, { ...files, context: around });
  const templates = await discoverDefinitions(TEMPLATES, {
    ...files,
    context: around,
    // The built-in templates alone are examples, and not worth their bytes in every request.
    builtins: 'with-others',
  });
  const skipped = [...agents.current.skipped, ...skills.current.skipped];
  const unused = untrustedNotice({ files: loaded.files, skipped });
  if (unused !== null) onNotice(unused);
  const { durability } = config.store;
  const store =
    options.log === false
      ? openMemoryStore({ redact })
      : openDataDir({ dataDir: directory, durability, redact, onProblem: onNotice });
  const onBroken = (thrown: unknown) => onNotice(`a listener broke: ${errorMessage(thrown)}`);
  const router = new EventRouter(onBroken);
  const signals = new SignalRouter(onBroken);
  const { kind, caches } = config.sandbox;
  const keepsRecords = options.log !== false;
  const sandbox = sandboxOf({
    ...place,
    kind,
    caches,
    roots,
    dataDir: directory,
    keepsRecords,
    onNotice,
  });
  const onAskSetting = loaded.settings.get('permissions.on_ask');
  const onAsk = options.questions ?? config.permissions.onAsk;
  if (onAsk === 'park' && options.log === false) {
    throw new UsageError(
      "questions can't be parked in a run that keeps no log: leave out --no-log, or --on-ask park",
    );
  }
  const saved = openSavedAnswers({ ...state, onProblem: onNotice });
  const standing = standingRules({ saved, onNotice });
  const modes = configuredModes(loaded, agents.current.items);
  const ineffective = rulesWithoutEffect(loaded.rules, agents.current.items);
  for (const notice of [...modes.notices, ...ineffective]) onNotice(describeProblem(notice));
  const savedModes = openSavedModes({ ...state, onProblem: onNotice });
  const modeGrants = modeGrantStore(modes.grants, savedModes);
  const inbox = new Inbox({ onAsk, standing, modeGrants });
  const configDirectory = realPath(userConfigDir(place));
  const home = realPath(place.home);
  const git = await snapshot;
  const context = new LiveContext({
    around,
    home,
    environment,
    git: git === null ? null : redact(git),
    isWithheld: withheldFrom(loaded.rules, { roots, home }),
    redact,
    clock: systemClock,
    onNotice,
  });
  const engine = new Engine({
    store,
    redactBytes: createStreamRedactor({ secrets }),
    redact,
    model: models,
    models: chooser,
    tools: builtinTools(),
    templates: templates.items,
    agents: { refresh: () => agents.refresh(), agents: () => agents.current.items },
    skills: { refresh: () => skills.refresh(), skills: () => skills.current.items },
    memory: {
      userDirectory: configDirectory,
      trusts: (index) => isTrustedMemory(index, files.currentTrust()),
    },
    context,
    clock: systemClock,
    deadlines,
    settings: {
      ...engineSettings(config, {
        maxTurns: options.maxTurns ?? null,
        isAttended: options.attended ?? false,
      }),
      maxParallel: admitted.maxParallel,
    },
    platform: process.platform,
    home,
    stateDirectories: [directory, configDirectory],
    sandboxed: async () => (await sandbox.state()).on,
    machineIsSandbox: kind === 'container',
    inContainer: () => isInContainer(environment),
    sandbox: announced(sandbox, { kind, onNotice }),
    inbox,
    onEvent: (event, of) => router.route(event, of),
    onSignal: (signal) => {
      if (signal.type === 'progress' && signal.tool === CODE_SEARCH) onNotice(signal.line);
      signals.route(signal);
    },
    onFault: (task, thrown) => onNotice(`task ${task}: ${errorMessage(thrown)}`),
  });
  const grant = {
    mode: config.permissions.mode,
    rules: loaded.rules,
    roots,
    network: config.sandbox.network,
    maxDepth: config.taskTool.maxDepth,
  };
  const verbose = config.taskTool.enableVerboseLogging;
  const maxTurns = options.maxTurns ?? null;
  const isModeFlag = loaded.settings.get('permissions.mode')?.source.kind === 'flag';
  const modeFlag = isModeFlag ? config.permissions.mode : null;
  return {
    engine,
    inbox,
    isOnAskChosen: options.questions !== undefined || onAskSetting?.source.kind !== 'default',
    store,
    router,
    signals,
    sandbox,
    setup,
    models: chooser,
    agents,
    skills,
    templates: () =>
      discoverDefinitions(TEMPLATES, { cwd, environment, trust: files.currentTrust() }),
    grant,
    channel:
      options.log === false
        ? null
        : new ControlChannel({ engine, store, dataDir: directory, onNotice }),
    retention: new Retention({
      store,
      clock: systemClock,
      days: config.store.retentionDays,
      onNotice,
    }),
    maxTurns,
    modeFlag,
    verbose,
    environment,
    typed: keepsRecords
      ? openTypedHistory({ directory, cwd, redact, onProblem: onNotice })
      : NO_HISTORY,
    keyBindings: config.keyBindings,
    notify: config.terminal.notify,
    onNotice,
  };
}

/** Links resolved, also of what does not exist yet: paths of calls are compared with it. */
function realPath(path: string): string {
  return resolveInRoots(path, []).real;
}

async function loadOffline() {
  const { createOfflineModel } = await import('../../model/offline/engine.ts');
  return createOfflineModel();
}
