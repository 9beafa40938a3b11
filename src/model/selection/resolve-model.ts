import { MusterError, UsageError } from '../../base/errors.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import {
  chooseModel,
  chooseNamedModel,
  invalidModel,
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
 * Resolves the model of the main agent: the flag, then `[models] default`, then the balanced tier; `offline` if
 * none is named and none configured. Throws UsageError for a named model that can't be used.
 */
export function resolveMainModel(setup: ModelSetup, user: ModelUser): ResolvedModel {
  const { name, setting } = requestedMainModel(setup.settings);
  const choice = chooseModel(name, setup, user);
  if (choice instanceof MusterError) {
    // Incomplete environment variables may be the reason why the model was not found.
    const problems = [choice.message, ...(setup.problems ?? [])].join('\n');
    throw new UsageError(`${setting}: ${problems}`);
  }
  return toResolvedModel(choice, `${setting}: ${name}`);
}

function requestedMainModel(settings: ModelSettings): { name: string; setting: string } {
  if (settings.flag !== undefined) return { name: settings.flag, setting: '--model' };
  if (settings.default !== undefined) return { name: settings.default, setting: 'models.default' };
  return { name: 'balanced', setting: 'no model named' };
}

/** The inputs to the choice of a delegated task's model. */
export interface TaskModelRequest extends ModelUser {
  /** The model that the Task call names. */
  readonly call: string | undefined;
  /** The models that the agent's definition names. The first usable one is chosen. */
  readonly definition: readonly string[];
  readonly parent: ResolvedModel;
  /** If false, a call may not replace the model of the definition. */
  readonly allowOverride: boolean;
  /** Finds ids in the catalogue. Default: the id that a display name leads to is used without a check. */
  readonly knownId?: FindKnownId;
}

/** Resolves the model of a delegated task. Returns an error, INVALID_PARAM, only for the model of the call. */
export function resolveTaskModel(
  setup: ModelSetup,
  request: TaskModelRequest,
): ResolvedModel | MusterError {
  const { call, definition, parent } = request;
  if (call !== undefined) {
    const choice = chooseModel(call, setup, request, parent);
    if (choice instanceof MusterError) return invalidModel(`model: ${choice.message}`);
    const model = toResolvedModel(choice, `call: ${call}`);
    return request.allowOverride ? model : requireFixed(model, resolveDefinition(setup, request));
  }
  if (definition.length === 0) return inheritModel(parent);
  return resolveDefinition(setup, request);
}

/** Resolves the first usable model of a definition; if there is none, the parent's, with a warning that says why. */
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

/** Chooses the model for a name in an agent file, which may be the name that an editor shows for a model. */
function chooseFromFile(entry: string, setup: ModelSetup, request: TaskModelRequest): ChoiceResult {
  const name = entry.trim();
  const isListed = setup.providers.some(
    ({ models, tiers }) => models?.includes(name) === true || Object.values(tiers).includes(name),
  );
  if (isListed || !isDisplayName(name)) return chooseModel(name, setup, request, request.parent);
  const id = idFromDisplayName(name);
  const vendor = findVendorByModelId(id);
  if (vendor === null) {
    // A server's own id may have capitals, but hardly blanks.
    if (!/\s/.test(name)) return chooseModel(name, setup, request, request.parent);
    return invalidModel(`"${name}" is neither a model id nor the name of a known model`);
  }
  const known = request.knownId === undefined ? id : request.knownId(vendor, id);
  if (known === null) return invalidModel(`no model of ${vendor} is known by this name`);
  return prependStep(`"${name}" is ${known}`, chooseNamedModel(known, setup));
}

function requireFixed(model: ResolvedModel, fixed: ResolvedModel): ResolvedModel | MusterError {
  if (model.provider === fixed.provider && model.id === fixed.id) return model;
  return invalidModel(
    `model: this agent's model is fixed to ${fixed.provider}/${fixed.id} (task_tool.allow_model_override is false)`,
  );
}

function inheritModel(parent: ResolvedModel): ResolvedModel {
  const { provider, id, tier } = parent;
  const chain = ['inherit', `parent: ${provider}/${id}`];
  return { provider, id, ...(tier === undefined ? {} : { tier }), chain };
}

/** Converts a choice to a resolved model. `request` is the first entry of its chain. */
export function toResolvedModel(
  { provider, id, tier, steps }: ModelChoice,
  request: string,
): ResolvedModel {
  return { provider, id, ...(tier === undefined ? {} : { tier }), chain: [request, ...steps] };
}

/**
 * Splits the `model` text of an agent file into names. Editors write several into one text, separated by `|` or
 * `,`, and quote some of them.
 */
export function splitModelNames(text: string): readonly string[] {
  const parts = text.split(/[|,]/).map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'));
  return parts.filter((part) => part.trim() !== '');
}

/**
 * Returns true for the names that editors show for models, which are no ids: `Claude Sonnet 4.5 (copilot)`,
 * `GPT-5`, `claude-opus-4.6`.
 */
export function isDisplayName(name: string): boolean {
  if (name.includes('/')) return false;
  return /\s/.test(name) || /[A-Z].*\d/.test(name) || /^claude-.*\d\.\d/.test(name);
}

/** A remark about the host or state of a model behind its name: `(copilot)`, `(Preview)`. */
const REMARK = /\s*\([^()]*\)/g;

/** Converts a display name to the id that it would have by the conventions of its vendor. */
export function idFromDisplayName(name: string): string {
  const id = name.replaceAll(REMARK, '').trim().toLowerCase().replaceAll(/\s+/g, '-');
  return id.startsWith('claude-') ? id.replaceAll('.', '-') : id;
}
