import { resolve } from 'node:path';
import {
  loadDefinitions,
  loadServerChecks,
  type AgentListings,
  type ServerChecks,
  loadStoredTasks,
  type SandboxState,
  loadModelReports,
  loadSandbox,
  type ModelsReport,
  type SandboxOptions,
  type WorkspaceProblem,
  type AgentsLocation,
} from '../../../../api/index.ts';
import { MusterError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { REPAIRS } from '../../../../protocol/repair.ts';
import type { CommandContext, Report } from '../../command.ts';
import { configInputs, stateLocation } from '../../configuration.ts';
import { columns } from '../../layout.ts';
import type { ConfigOptions } from '../../run-options.ts';
import { fail, ok, warn, type Check } from '../../../../protocol/check.ts';
import {
  dataDirCheck,
  gitCheck,
  nodeCheck,
  ripgrepCheck,
  sandboxCheck,
  shellCheck,
} from './machine-checks.ts';
import { nextDoctorStep } from './next-step.ts';
import type { ConfigFile } from '../../../../config/files.ts';
import { readConfig, type ConfigReading } from '../../../../config/load.ts';
import { dataDirectory, isDataDirectoryChosen } from '../../../../config/paths.ts';
import { describeConfigProblem } from '../../../../config/setting.ts';
import type { RepairsByModel } from '../../../../report/repairs.ts';
import type { StateOptions } from '../../../../trust/state-directory.ts';
import { summarizeUntrusted, type UnusedFiles } from '../../../../trust/untrusted-notice.ts';

/** The facts about this process and machine that the checks look at. */
export interface DoctorProbes {
  /** `process.versions.node`. */
  readonly nodeVersion: string;
  /** The user of this process; undefined on systems without user ids. */
  readonly uid: number | undefined;
  /** Resolves to the path of the ripgrep that Grep runs; rejects if ripgrep is missing. */
  readonly ripgrep: () => Promise<string>;
  /** Lists the models of this configuration, including those of local servers. May throw UsageError. */
  readonly models: (loaded: ConfigReading, state: StateOptions) => Promise<ModelsReport>;
  readonly agents: (location: DoctorLocation) => Promise<AgentsReport>;
  /** Repairs in the answers of the newest tasks. */
  readonly repairs: (dataDir: string) => Promise<RepairsByModel>;
  /** Lists what processes have left behind of the workspaces in a data directory. */
  readonly workspaces: (dataDir: string) => Promise<readonly WorkspaceProblem[]>;
  /** Tests the sandbox. Must leave no files behind. */
  readonly sandbox: (location: Omit<SandboxOptions, 'canWriteDataDir'>) => Promise<SandboxState>;
  /** Starts each MCP server, and stops it. */
  readonly servers: (state: StateOptions, options: ServerTestOptions) => Promise<ServerChecks>;
}

interface ServerTestOptions {
  readonly trustProject: boolean;
  readonly sandbox: Omit<SandboxOptions, 'canWriteDataDir'>;
  readonly rules: ConfigReading['rules'];
}

type DoctorLocation = Required<Pick<AgentsLocation, 'cwd' | 'trustProject' | 'dataDir'>>;

/** The number of agents that can be used, the problems of their files, and the files that were skipped. */
export interface AgentsReport extends Pick<AgentListings, 'problems' | 'skipped'> {
  readonly loaded: number;
}

/** Returns the probes of this process. */
export function processProbes({ environment }: CommandContext): DoctorProbes {
  return {
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    ripgrep: async () => (await import('@vscode/ripgrep')).rgPath,
    models: async (loaded, state) => (await loadModelReports()).reportModels(loaded, state),
    repairs: async (data) => (await loadStoredTasks()).recentRepairs(data, environment),
    workspaces: async (dataDir) => (await loadStoredTasks()).findWorkspaceProblems(dataDir),
    sandbox: async (location) => {
      const { openConfiguredSandbox } = await loadSandbox();
      return openConfiguredSandbox({ ...location, canWriteDataDir: false }).state();
    },
    servers: async (state, { trustProject, rules, sandbox: location }) => {
      const { checkServers } = await loadServerChecks();
      const { openConfiguredSandbox } = await loadSandbox();
      const sandbox = openConfiguredSandbox({ ...location, canWriteDataDir: false });
      return await checkServers(state, { trustProject, sandbox, rules });
    },
    agents: async (location) => {
      const { listAgentsIn } = await loadDefinitions();
      const { agents, problems, skipped } = await listAgentsIn({ ...location, environment });
      const loaded = agents.filter(({ shadowedBy }) => shadowedBy === null).length;
      return { loaded, problems, skipped };
    },
  };
}

interface DoctorReport extends Report {
  readonly json: { readonly ok: boolean; readonly checks: readonly Check[]; readonly next: string };
}

/** Runs all checks. The exit code is 1 if a check fails. */
export async function checkMachine(
  options: ConfigOptions,
  context: CommandContext,
  probes: DoctorProbes,
): Promise<DoctorReport> {
  const checks = await allChecks(options, context, probes);
  const ok = checks.every(({ status }) => status !== 'fail');
  const rows = checks.map(({ status, name, detail, fix }) => [
    status,
    name,
    fix === null ? detail : `${detail} → ${fix}`,
  ]);
  const next = nextDoctorStep(checks);
  return {
    json: { ok, checks, next },
    text: `${columns(rows)}\nnext: ${next}\n`,
    code: ok ? 0 : 1,
  };
}

async function allChecks(
  options: ConfigOptions,
  context: CommandContext,
  probes: DoctorProbes,
): Promise<readonly Check[]> {
  const reading = await readConfig(configInputs(options, context));
  const cwd = resolve(context.cwd, options.cwd ?? '.');
  const data = dataDirectory(context, {
    cwd: context.cwd,
    ...(options.dataDir === null ? {} : { dataDir: options.dataDir }),
  });
  const location = { cwd, trustProject: options.trustProject, dataDir: data };
  const agents = await loadAgents(location, probes);
  const { kind, caches, commandProcesses } = reading.config.sandbox;
  const { environment, home } = context;
  const sandboxLocation = {
    environment,
    home,
    kind,
    caches,
    commandProcesses,
    roots: [cwd],
    dataDir: data,
  };
  const state = stateLocation(options, context);
  return [
    nodeCheck(probes.nodeVersion),
    ...configChecks(reading),
    dataDirCheck(data, probes.uid, {
      isChosen: isDataDirectoryChosen(context, options.dataDir ?? undefined),
    }),
    ...(await checkModels(reading, state, probes)),
    ...(await checkAnswers(data, probes)),
    ...agents.checks,
    ...trustChecks({ files: reading.files, skipped: agents.skipped }),
    await ripgrepCheck(probes.ripgrep),
    ...shellCheck('/bin/bash'),
    gitCheck(environment),
    ...(await probes.workspaces(data)).map(({ detail, fix }) => warn('workspaces', detail, fix)),
    sandboxCheck(await probes.sandbox(sandboxLocation)),
    ...serverChecks(
      await probes.servers(state, {
        trustProject: options.trustProject,
        sandbox: sandboxLocation,
        rules: reading.rules,
      }),
    ),
  ];
}

/** Lists the configuration files, and all problems in the files, variables and flags. */
function configChecks(reading: ConfigReading): readonly Check[] {
  return [
    ...reading.files.flatMap(fileCheck),
    ...reading.problems.map((problem) =>
      fail('config', describeConfigProblem(problem), 'correct it'),
    ),
    ...reading.notices.map((notice) => warn('config', describeConfigProblem(notice), null)),
  ];
}

function fileCheck(file: ConfigFile): readonly Check[] {
  const path = file.path;
  switch (file.state) {
    case 'absent':
      return [ok('config', `no ${file.scope} file (${path}); the defaults apply`)];
    case 'read':
      return [ok('config', `${file.scope} file ${path}`)];
    case 'broken':
    case 'untrusted':
    case 'changed':
      // Another check reports the state of the file: as a problem, as a notice, or as untrusted.
      return [];
  }
}

/** Returns the result of a probe, or the MusterError that the probe threw. */
async function resultOrError<Result>(probe: () => Promise<Result>): Promise<Result | MusterError> {
  try {
    return await probe();
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
}

async function checkModels(
  reading: ConfigReading,
  state: StateOptions,
  { models }: DoctorProbes,
): Promise<readonly Check[]> {
  const report = await resultOrError(() => models(reading, state));
  return report instanceof MusterError
    ? [fail('model', report.message, null)]
    : modelChecks(report);
}

/** Reports the repairs in recent answers. It is only a warning that they cannot be read: the data directory has its own check. */
async function checkAnswers(data: string, { repairs }: DoctorProbes): Promise<readonly Check[]> {
  const counts = await resultOrError(() => repairs(data));
  return counts instanceof MusterError
    ? [warn('answers', counts.message, null)]
    : answersChecks(counts);
}

const CONFIGURE = 'run "muster login", set a key such as ANTHROPIC_API_KEY, or see "muster models"';

/** Lists the providers with the variables of their API keys, but never an API key, and the model of the main agent. */
function modelChecks({ providers, choices, problems }: ModelsReport): readonly Check[] {
  const main = choices.find(({ wish }) => wish === 'main');
  return [
    ...providers.map(providerCheck),
    ...problems.map((problem) => warn('provider', problem, null)),
    mainCheck(main),
    ...choices.flatMap(({ wish, model, problem }) =>
      wish === 'fallback' && model === null
        ? [fail('model', problem ?? 'a fallback is unusable', CONFIGURE)]
        : [],
    ),
  ];
}

function providerCheck(provider: ModelsReport['providers'][number]): Check {
  const { name, baseUrl, source, missingKey, keyProblem, credentials } = provider;
  if (keyProblem !== null) return warn('provider', `${name}: ${keyProblem}`, null);
  if (missingKey === null) {
    const found = credentials === undefined ? '' : `, credentials: ${credentials}`;
    return ok('provider', `${name} at ${baseUrl}, from ${source}${found}`);
  }
  const remedy = `set ${missingKey}`;
  return warn('provider', `${name} has no key`, remedy);
}

function mainCheck(main: ModelsReport['choices'][number] | undefined): Check {
  if (main === undefined || main.model === null) {
    return fail('model', main?.problem ?? 'none can be chosen', CONFIGURE);
  }
  if (main.offline) {
    return warn('model', `${main.model}: it searches the workspace and writes no code`, CONFIGURE);
  }
  if (main.problem !== null) return warn('model', `${main.model}: ${main.problem}`, null);
  return ok('model', main.model);
}

/** Reports the repairs in the answers of each model. They need no action. */
function answersChecks(repairs: RepairsByModel): readonly Check[] {
  return Array.from(repairs, ([model, counts]) => {
    const list = Array.from(counts, ([repair, count]) => `${REPAIRS[repair]} × ${count}`);
    return ok('answers', `${model}: repaired: ${list.join('; ')}`);
  });
}

async function loadAgents(
  location: DoctorLocation,
  { agents }: DoctorProbes,
): Promise<{ readonly checks: readonly Check[]; readonly skipped: AgentsReport['skipped'] }> {
  const report = await resultOrError(() => agents(location));
  if (!(report instanceof MusterError)) {
    return { checks: agentChecks(report), skipped: report.skipped };
  }
  // Agents depend on the configuration, and another check reports what is wrong in it.
  const check = warn('agents', 'not checked, because the configuration is wrong', null);
  return { checks: [check], skipped: [] };
}

function agentChecks({ loaded, problems }: AgentsReport): readonly Check[] {
  return [
    loaded === 0
      ? fail(
          'agents',
          'none can be loaded, not even the built-in ones',
          'install the package again',
        )
      : ok('agents', `${plural(loaded, 'agent')} loaded`),
    ...problems.map(({ path, line, message }) => {
      const where = line === undefined ? path : `${path}:${line}`;
      return warn('agents', `${where}: ${message}`, null);
    }),
  ];
}

/** Reports files of the project that are not used because nobody has trusted them. */
function trustChecks(unused: UnusedFiles): readonly Check[] {
  const summary = summarizeUntrusted(unused);
  if (summary === null) return [];
  return [warn('trust', summary, 'look with "muster trust list", then "muster trust add"')];
}

/** Reports each MCP server, and each problem of a file of servers. Runs work without servers, so nothing fails. */
function serverChecks({ servers, problems }: ServerChecks): readonly Check[] {
  return [
    ...servers.map(({ name, tools, problem, fix }) => {
      const detail = [name, problem ?? plural(tools ?? 0, 'tool')].join(': ');
      return problem === null ? ok(MCP_SERVER, detail) : warn(MCP_SERVER, detail, fix);
    }),
    ...problems.map((problem) => warn(MCP_SERVER, problem, null)),
  ];
}

const MCP_SERVER = 'mcp server';
