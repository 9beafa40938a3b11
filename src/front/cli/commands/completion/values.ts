import {
  loadAccounts,
  loadDefinitions,
  loadStoredTasks,
  type AccountOptions,
  type AccountReport,
  type TaskSummary,
} from '../../../../api/index.ts';
import { listGrantableModes } from '../../../../trust/mode-grants.ts';
import { isTaskAtWork, taskLabel } from '../tasks/rows.ts';
import type { StoredValueKind } from '../../completion-values.ts';

/** A text that could be typed, and its meaning. */
export interface Candidate {
  readonly text: string;
  readonly about: string;
}

/** The directories that the completed command line would use, as absolute paths. */
export interface CompletionLocation {
  readonly cwd: string;
  readonly dataDir?: string;
  /** Whether project files that are not trusted are used, too. */
  readonly trustProject: boolean;
}

/** Reads the values of a kind, in the order of the command that lists them. Reads files and calls no server. */
export async function readCompletionValues(
  source: StoredValueKind,
  place: CompletionLocation,
): Promise<readonly Candidate[]> {
  switch (source) {
    case 'tasks':
      return taskIds(place, () => true);
    case 'tasks at work':
      return taskIds(place, isTaskAtWork);
    case 'ended tasks':
      return taskIds(place, ({ ended }) => ended !== null);
    case 'tasks with a workspace':
      return workspaces(place);
    case 'runs of templates':
      return taskIds(place, (task) => task.source === 'template' && task.parent === null);
    case 'open questions':
      return questions(place);
    case 'agents':
      return agents(place);
    case 'agent modes':
      return agentModes(place);
    case 'configured models':
      return configuredModels(place);
    case 'templates':
      return templates(place);
    case 'settings':
      return settings();
    case 'providers':
      return providers(place);
    case 'stored providers':
      return storedAccounts(place, ({ provider }) => provider);
    case 'stored accounts':
      return storedAccounts(place, ({ account }) => account);
    default:
      return source satisfies never;
  }
}

/** Lists the tasks whose changes wait in a workspace. */
async function workspaces({ dataDir }: CompletionLocation): Promise<readonly Candidate[]> {
  const { openTasks } = await loadStoredTasks();
  const opened = openTasks(dataDir === undefined ? {} : { dataDir });
  try {
    const stored = await opened.workspaces(new AbortController().signal);
    return stored
      .list()
      .filter(({ status }) => status === 'ready' || status === 'ended')
      .map(({ id, description }) => ({ text: id, about: description }));
  } finally {
    await opened.close();
  }
}

async function tasks(
  { dataDir }: CompletionLocation,
  fits: (task: TaskSummary) => boolean,
): Promise<readonly TaskSummary[]> {
  const { openTasks } = await loadStoredTasks();
  const tasksHere = openTasks(dataDir === undefined ? {} : { dataDir });
  try {
    return tasksHere.list().filter(fits);
  } finally {
    await tasksHere.close();
  }
}

async function taskIds(
  place: CompletionLocation,
  fits: (task: TaskSummary) => boolean,
): Promise<readonly Candidate[]> {
  const listed = await tasks(place, fits);
  return listed.map((task) => ({ text: task.id, about: `${task.status}  ${taskLabel(task)}` }));
}

async function questions(place: CompletionLocation): Promise<readonly Candidate[]> {
  const asking = await tasks(place, ({ questions }) => questions !== undefined);
  return asking.flatMap((task) =>
    (task.questions ?? []).map(({ id }) => ({ text: id, about: taskLabel(task) })),
  );
}

async function settings(): Promise<readonly Candidate[]> {
  const { ALL_KEYS } = await import('../../../../config/key-entry.ts');
  return ALL_KEYS.map(({ key, spec }) => ({ text: key, about: spec.meaning }));
}

async function agents(place: CompletionLocation): Promise<readonly Candidate[]> {
  const { listAgentsIn } = await loadDefinitions();
  const listed = await listAgentsIn(place);
  return listed.agents
    .filter(({ shadowedBy }) => shadowedBy === null)
    .map(({ id, description }) => ({ text: id, about: description }));
}

/** Returns values of `--agent-mode`. */
async function agentModes(place: CompletionLocation): Promise<readonly Candidate[]> {
  const { loadAgents } = await loadDefinitions();
  const { discovery } = await loadAgents(place);
  return discovery.items.flatMap((agent) =>
    listGrantableModes(agent).map((text) => ({ text, about: agent.description })),
  );
}

/** Returns the models that the configuration names. */
async function configuredModels(place: CompletionLocation): Promise<readonly Candidate[]> {
  const { loadAgents } = await loadDefinitions();
  const { models } = (await loadAgents(place)).loadedConfig.config;
  const { catalogue, providers: _, family: _family, ...chosen } = models;
  const named = [...Object.values(chosen).flat(), ...catalogue.keys()];
  return named.filter((name) => name !== null).map((text) => ({ text, about: '' }));
}

async function templates(place: CompletionLocation): Promise<readonly Candidate[]> {
  const { listTemplatesIn } = await loadDefinitions();
  const listed = await listTemplatesIn(place);
  return listed.templates.map(({ name, description }) => ({ text: name, about: description }));
}

/** Returns the options of commands about accounts. */
async function accountOptions(place: CompletionLocation): Promise<AccountOptions> {
  const { loadAgents } = await loadDefinitions();
  const { environment, home, loadedConfig: loaded } = await loadAgents(place);
  const { cwd, dataDir } = place;
  return { loaded, state: { environment, home, cwd, ...(dataDir !== undefined && { dataDir }) } };
}

async function providers(place: CompletionLocation): Promise<readonly Candidate[]> {
  const { listProvidersToSignIn } = await loadAccounts();
  const listed = listProvidersToSignIn(await accountOptions(place));
  return listed.map(({ facts: { name, title } }) => ({ text: name, about: title }));
}

async function storedAccounts(
  place: CompletionLocation,
  choose: (account: AccountReport) => string,
): Promise<readonly Candidate[]> {
  const { listAccounts } = await loadAccounts();
  const { accounts } = listAccounts(await accountOptions(place));
  return accounts.map((each) => ({
    text: choose(each),
    about: `${each.provider}, account ${each.account}`,
  }));
}
