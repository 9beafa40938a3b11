import { errorMessage } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import { homeDirectory, readEnvironment, type Environment } from '../../sys/env.ts';
import { readHookFiles, type HookFiles } from '../../trust/hook-files.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { readGitStatus } from '../context/git-status.ts';
import type { ActivePlugins } from '../../plugins/active-plugins.ts';
import type { SessionOptions } from '../setup/options.ts';
import { loadPlugins } from '../setup/plugins.ts';
import { openLogFile, type SessionLogFile } from '../setup/log-file.ts';
import { listSecretValues, listUrlSecrets } from '../setup/secrets.ts';
import { workspaceRoots } from '../setup/workspace.ts';
import { createRedactor } from '../../store/redact/redactor.ts';
import { NO_PROGRAM, type ProgramParts } from '../setup/program-parts.ts';
import type { ProjectTrust } from '../../sys/files/project-file.ts';

/** The configuration of a session and the trust in the project's files, before anything is opened. */
export interface SessionConfig {
  readonly environment: Environment;
  /** The workspace roots, absolute and real. The first is the working directory. */
  readonly roots: readonly [string, ...string[]];
  /** The options that locate the state directory. */
  readonly state: StateOptions;
  /** The state directory; absolute and without links. */
  readonly directory: string;
  readonly loaded: LoadedConfig;
  /** The files with hooks as they are when the session starts. */
  readonly hookFiles: HookFiles;
  /** The active plugins when the session starts. */
  readonly plugins: ActivePlugins;
  /** Reads again which plugins are active. */
  readonly currentPlugins: () => Promise<ActivePlugins>;
  /** The trust in project files when the session starts. */
  readonly trust: ProjectTrust;
  /** Reads the approvals again, so that files that have been trusted since are used too. */
  readonly currentTrust: () => ProjectTrust;
  /** Resolves to the status of the repository as text, or null. Never rejects. */
  readonly gitStatus: Promise<string | null>;
  /** The secrets that `redact` removes. Keys that are read later are added to it. */
  readonly secrets: string[];
  readonly redact: (text: string) => string;
  /** The log file, which begins to be written when the session is open; null if there is none. */
  readonly logFile: SessionLogFile | null;
  /** The parts of the program that opened the session. */
  readonly program: ProgramParts;
  readonly onNotice: (line: string) => void;
  /** Reports an internal error. `task`: the task in which it happened; null for a listener of events. */
  readonly onFault: (task: string | null, thrown: unknown) => void;
}

/** Reads the configuration. Throws UsageError for a wrong option or configuration. */
export async function readSessionConfig(options: SessionOptions): Promise<SessionConfig> {
  const environment = options.environment ?? readEnvironment();
  const home = homeDirectory(environment);
  const roots = workspaceRoots(options.cwd ?? process.cwd(), options.addDirs ?? []);
  const [cwd] = roots;
  // Start git now, so that it runs while the configuration is read.
  const gitStatus = readGitStatus(cwd, environment);
  const secrets = [...listSecretValues(environment)];
  const redact = createRedactor({ secrets });
  const showNotice = (line: string) => options.onNotice?.(redact(line));
  let logFile: SessionLogFile | null = null;
  const onNotice = (line: string) => {
    logFile?.add({ level: 'warning', event: 'notice', fields: { message: line } });
    showNotice(line);
  };
  const onFault = (task: string | null, thrown: unknown) => {
    const message = errorMessage(thrown);
    logFile?.add({ level: 'error', event: 'fault', fields: { task, message } });
    showNotice(task === null ? `a listener broke: ${message}` : `task ${task}: ${message}`);
  };
  const { dataDir, trustProject: decision = false, flags = [] } = options;
  const state = { environment, home, cwd, ...(dataDir === undefined ? {} : { dataDir }) };
  const currentTrust = () => createProjectTrust({ ...state, decision, onProblem: onNotice });
  const trust = currentTrust();
  const program = options.program ?? NO_PROGRAM;
  const loaded = await loadConfig({
    environment,
    home,
    cwd,
    trust,
    program: { config: program.config, tools: program.tools.map(({ name }) => name) },
    flags,
  });
  const directory = stateDirectory(state);
  logFile = await openLogFile({
    config: loaded.config.log,
    debug: options.debug ?? false,
    keepsFiles: options.log !== false,
    home,
    directory,
    redact,
    onNotice: showNotice,
  });
  logFile?.add({
    level: 'info',
    event: 'session.started',
    fields: { version: VERSION, pid: process.pid, cwd },
  });
  const hookFiles = readHookFiles({ environment, home, cwd }, trust);
  const reported = new Set<string>();
  const currentPlugins = () =>
    loadPlugins({
      ...state,
      onProblem: (problem) => {
        if (!reported.has(problem)) onNotice(problem);
        reported.add(problem);
      },
    });
  const plugins = await currentPlugins();
  const urls = [
    loaded.config.web.searxngUrl ?? '',
    ...Array.from(loaded.config.models.providers.values(), ({ baseUrl }) => baseUrl ?? ''),
  ];
  secrets.push(...urls.flatMap(listUrlSecrets));
  for (const { where, message } of loaded.notices) onNotice(`${where}: ${message}`);
  return {
    environment,
    roots,
    state,
    directory,
    loaded,
    hookFiles,
    plugins,
    currentPlugins,
    trust,
    currentTrust,
    gitStatus,
    secrets,
    redact,
    logFile,
    program,
    onNotice,
    onFault,
  };
}
