import { MusterError } from '../../base/errors.ts';
import { requestPrefix } from '../../engine/delegation/create-task.ts';
import type { ModelChooser } from '../../engine/task/deps.ts';
import { readFullLog } from '../../engine/task/fold-log.ts';
import { PrefixCache } from '../../engine/prompt/prefix.ts';
import { createModelChooser } from '../../model/selection/model-chooser.ts';
import { discoverProviders } from '../../model/providers/providers.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { homeDirectory, type Environment } from '../../sys/env.ts';
import { TRUST_NOTHING } from '../../sys/files/project-file.ts';
import { loadConfig } from '../../config/load.ts';
import { requestContext, type RequestContext } from '../../report/request-context.ts';
import { readAccounts } from '../setup/accounts.ts';
import { createLazyFinder } from '../setup/listed-finder.ts';
import { modelSettings } from '../setup/settings.ts';

/** A request with the context window of its model. */
export interface TaskContext extends RequestContext {
  /** The tokens of the window, or null if they are not known. */
  readonly window: number | null;
  /**
   * The remaining tokens of the window by the provider's count or else the estimate, or null if they are not known.
   */
  readonly left: number | null;
}

export interface ContextQuery {
  /** The full id of a task. */
  readonly id: string;
  /** The number of the turn, or null for the newest one. */
  readonly turn: number | null;
}

/**
 * Returns the content of a request of a task, from its log. Throws MusterError `NOT_FOUND` for a turn that does not
 * exist, or if the shared prefix of its requests is lost.
 */
export async function contextOfTask(
  store: TaskStore,
  { id, turn }: ContextQuery,
  models: Pick<ModelChooser, 'details'>,
): Promise<TaskContext> {
  const events = readFullLog(store, id);
  const [created] = events;
  // It begins with it, or `wholeLog` has thrown.
  if (created?.type !== 'task.created') throw new MusterError('NOT_FOUND', `task ${id} has no log`);
  const { spec } = created;
  if (spec.fanOut !== undefined) {
    throw new MusterError(
      'NOT_FOUND',
      `task ${id} is a run of a template and asks no model: look at one of its items`,
    );
  }
  const context = requestContext(events, { turn, prefix: recordedPrefix(store, spec) });
  const slash = context.model.indexOf('/');
  const [provider, name] = [context.model.slice(0, slash), context.model.slice(slash + 1)];
  const { contextWindow: window } = await models.details({ provider, id: name, chain: [] });
  const taken = context.counted?.total ?? context.tokens;
  return { ...context, window, left: window === null ? null : window - taken };
}

function recordedPrefix(store: TaskStore, spec: TaskSpec) {
  const shared = new PrefixCache(store).load(spec.prefix);
  if (shared !== null) return requestPrefix(shared, spec);
  throw new MusterError(
    'NOT_FOUND',
    `task ${spec.id}: the system prompt and the tools of its requests are lost (blob ${spec.prefix || 'not named'})`,
  );
}

/**
 * Returns the details of models by the present settings of the user, for a process that runs no task. No server is
 * asked. The settings are read at the first call.
 *
 * @param directory the state directory
 */
export function createSettingsDetails(
  environment: Environment,
  directory: string,
): Pick<ModelChooser, 'details'> {
  return {
    async details(model) {
      const home = homeDirectory(environment);
      const cwd = process.cwd();
      const loaded = await loadConfig({ environment, home, cwd, trust: TRUST_NOTHING, flags: [] });
      const settings = modelSettings(loaded);
      const accounts = readAccounts(directory, () => {});
      const providers = discoverProviders(settings, environment, accounts);
      const findListed = createLazyFinder(directory, () => {});
      const options = { allowOverride: true, findListed };
      return createModelChooser({ settings, providers }, options).details(model);
    },
  };
}
