import { MusterError, UsageError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { RemoteAgent } from '../../protocol/remote-agent.ts';
import {
  chooseModel,
  chooseNamedModel,
  createModelError,
  prependStep,
  type ModelChoice,
  type ModelSetup,
  type ModelUser,
  type ChoiceResult,
} from './choose-model.ts';
import type { ModelSettings } from '../settings/model-settings.ts';
import { findVendorByModelId } from '../providers/providers.ts';
import type { FindKnownId } from '../catalogue/catalogue.ts';

/**
 * Resolves the model of the main agent: the flag `--model`, then `[models] default`, then the tier balanced. Without a
 * named model and a configured provider, it is `offline`. Throws UsageError for a named model that can't be used.
 */
export function resolveMainModel(setup: ModelSetup, user: ModelUser): ResolvedModel {
  const { name, setting } = findRequestedMainModel(setup.settings);
  const choice = chooseModel(name, setup, user);
  if (choice instanceof MusterError) {
    // The message includes the incomplete environment variables, because they may be the cause.
    const problems = [choice.message, ...(setup.problems ?? [])].join('\n');
    throw new UsageError(`${setting}: ${problems}`);
  }
  return toResolvedModel(choice, `${setting}: ${name}`);
}

function findRequestedMainModel(settings: ModelSettings): { name: string; setting: string } {
  if (settings.flag !== undefined) return { name: settings.flag, setting: '--model' };
  if (settings.default !== undefined) return { name: settings.default, setting: 'models.default' };
  return { name: 'balanced', setting: 'no model named' };
}

/** The values on which the choice of a delegated task's model depends. */
export interface TaskModelRequest extends ModelUser {
  readonly agent: ModelUser['agent'] & Pick<AgentDefinition, 'remote'>;
  /** The model that the Task call names; undefined: it names no model. */
  readonly call: string | undefined;
  /** The models that the definition of the agent names. The first usable model is chosen. */
  readonly definition: readonly string[];
  readonly parent: ResolvedModel;
  /** True if the call may replace the model of the definition. */
  readonly allowOverride: boolean;
  /** Finds ids in the catalogue. Default: the id that is derived from a display name is used without a check. */
  readonly knownId?: FindKnownId;
}

/** Resolves the model of a delegated task. Returns an error (code INVALID_PARAM) only if the model that the call names is wrong. */
export function resolveTaskModel(
  setup: ModelSetup,
  request: TaskModelRequest,
): ResolvedModel | MusterError {
  const { agent, call, definition, parent } = request;
  if (agent.remote !== undefined) return resolveRemote(agent.name, agent.remote, call);
  if (call !== undefined) {
    const choice = chooseModel(call, setup, request, parent);
    if (choice instanceof MusterError) return createModelError(`model: ${choice.message}`);
    const model = toResolvedModel(choice, `call: ${call}`);
    return request.allowOverride ? model : requireFixed(model, resolveDefinition(setup, request));
  }
  if (definition.length === 0) return inheritModel(parent);
  return resolveDefinition(setup, request);
}

/** Returns the model that stands for a remote agent. Returns an error if a call names another one. */
function resolveRemote(
  name: string,
  { protocol }: RemoteAgent,
  call: string | undefined,
): ResolvedModel | MusterError {
  if (call === undefined)
    return { provider: protocol, id: name, chain: [`${name}: ${REMOTE_KINDS[protocol]}`] };
  const message = `model: ${name} is ${REMOTE_KINDS[protocol]}, which chooses its model itself; leave it out`;
  return createModelError(message);
}

const REMOTE_KINDS: Readonly<Record<RemoteAgent['protocol'], string>> = {
  acp: 'a program that speaks ACP',
  a2a: 'a server that speaks A2A',
};

/** Resolves the first usable model of a definition. If there is none, returns the model of the parent with a warning. */
function resolveDefinition(setup: ModelSetup, request: TaskModelRequest): ResolvedModel {
  const { agent, definition, parent } = request;
  const names = definition.flatMap(splitModelNames);
  const skipped: string[] = [];
  let reason: string | null = null;
  for (const name of names) {
    const choice = chooseFromFile(name, setup, request);
    if (!(choice instanceof MusterError)) {
      const { chain, ...model } = toResolvedModel(choice, `${agent.name}: ${name}`);
      return { ...model, chain: [...skipped, ...chain] };
    }
    reason ??= choice.message;
    skipped.push(`${agent.name}: ${name}: not usable`);
  }
  const quoted = (names.length === 0 ? definition : names).map((name) => `"${name}"`).join(', ');
  const warning = `${agent.name} asks for the model ${quoted}, which is not usable (${reason ?? 'it names none'}); its parent's is used`;
  const { chain, ...model } = inheritModel(parent);
  return { ...model, chain: [...skipped, ...chain.slice(1)], warning };
}

/** Chooses the model for a name in an agent file, which may be the name that an editor displays for a model. */
function chooseFromFile(entry: string, setup: ModelSetup, request: TaskModelRequest): ChoiceResult {
  const name = entry.trim();
  const isListed = setup.providers.some(
    ({ models, tiers }) => models?.includes(name) === true || Object.values(tiers).includes(name),
  );
  if (isListed || !isDisplayName(name)) return chooseModel(name, setup, request, request.parent);
  const id = toModelId(name);
  const vendor = findVendorByModelId(id);
  if (vendor === null) {
    // A name without blanks may still be an id, because some servers use capital letters in ids.
    if (!/\s/.test(name)) return chooseModel(name, setup, request, request.parent);
    return createModelError(`"${name}" is neither a model id nor the name of a known model`);
  }
  const known = request.knownId === undefined ? id : request.knownId(vendor, id);
  if (known === null) return createModelError(`no model of ${vendor} is known by this name`);
  return prependStep(`"${name}" is ${known}`, chooseNamedModel(known, setup));
}

/** Returns the model of the call if it is the model to which the definition is fixed, or else an error. */
function requireFixed(model: ResolvedModel, fixed: ResolvedModel): ResolvedModel | MusterError {
  if (model.provider === fixed.provider && model.id === fixed.id) return model;
  return createModelError(
    `model: this agent's model is fixed to ${fixed.provider}/${fixed.id} (task_tool.allow_model_override is false)`,
  );
}

function inheritModel(parent: ResolvedModel): ResolvedModel {
  const { provider, id, tier } = parent;
  const chain = ['inherit', `parent: ${provider}/${id}`];
  return { provider, id, ...(tier === undefined ? {} : { tier }), chain };
}

/** Converts a choice to a resolved model. `request`: the first entry of the chain, which names the setting and its value. */
export function toResolvedModel(
  { provider, id, tier, steps }: ModelChoice,
  request: string,
): ResolvedModel {
  return { provider, id, ...(tier === undefined ? {} : { tier }), chain: [request, ...steps] };
}

/**
 * Splits the `model` text of an agent file into names. Some editors write several names into one text, separated by `|`
 * or `,`, and quote them.
 */
export function splitModelNames(text: string): readonly string[] {
  const parts = text.split(/[|,]/).map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'));
  return parts.filter((part) => part.trim() !== '');
}

/**
 * Returns true for names that editors display for models and that are not ids, such as `Claude Sonnet 4.5 (copilot)`,
 * `GPT-5`, `claude-opus-4.6`.
 */
export function isDisplayName(name: string): boolean {
  if (name.includes('/')) return false;
  return /\s/.test(name) || /[A-Z].*\d/.test(name) || /^claude-.*\d\.\d/.test(name);
}

/** Matches a remark after the name of a model about its host or state, such as `(copilot)` or `(Preview)`. */
const REMARK = /\s*\([^()]*\)/g;

/** Converts a display name to an id, by the conventions that vendors use for ids. */
export function toModelId(name: string): string {
  const id = name.replaceAll(REMARK, '').trim().toLowerCase().replaceAll(/\s+/g, '-');
  return id.startsWith('claude-') ? id.replaceAll('.', '-') : id;
}
