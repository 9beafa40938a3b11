import type { SessionParts } from './session-parts.ts';
import { UsageError } from '../../base/errors.ts';
import type { RootGrant } from '../../policy/attenuate.ts';
import type { ModelSetup } from '../../model/selection/choose-model.ts';
import { findModeGrant } from '../../policy/mode-grants.ts';
import { type AgentDefinition, requestedModels } from '../../protocol/agent.ts';
import type { Effort, ResolvedModel } from '../../protocol/model.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { escapeLine } from '../../config/message-text.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { resolveMainModel, resolveTaskModel } from '../../model/selection/resolve-model.ts';

/** Determines the agent, model and rights of a new root task. */
export class RootDefaults {
  private readonly parts: SessionParts;
  /**
   * The name of the model that was chosen during the session, as the flag `--model` accepts it; null if none was
   * chosen.
   */
  private chosenModel: string | null = null;
  /** The effort that was chosen during the session; null for that of the model, undefined if none was chosen. */
  chosenEffort: Effort | null | undefined;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get cwd(): string {
    const [cwd = ''] = this.parts.grant.roots;
    return cwd;
  }

  /** Returns the rights that the user grants to a new root task. Default mode: the mode of the session. */
  createGrant(mode?: PermissionMode): RootGrant {
    const { grant } = this.parts;
    return mode === undefined ? grant : { ...grant, mode };
  }

  /** True if the user has chosen a model for this session. Otherwise a resumed task keeps its model. */
  get isModelChosen(): boolean {
    return this.setup.settings.flag !== undefined;
  }

  /**
   * Chooses the model of new root tasks, and their effort unless it is undefined. If there is no such model, throws
   * MusterError and changes nothing.
   */
  chooseModel(name: string, effort?: Effort | null): ResolvedModel {
    const previous = this.chosenModel;
    this.chosenModel = name;
    try {
      const model = this.resolveModel(null);
      if (effort !== undefined) this.chosenEffort = effort;
      return model;
    } catch (thrown) {
      this.chosenModel = previous;
      throw thrown;
    }
  }

  /** Returns the model that a name means, without choosing it. Throws MusterError if there is none. */
  findModel(name: string): ResolvedModel {
    const { modelSetup: setup } = this.parts;
    const named = { ...setup, settings: { ...setup.settings, flag: name } };
    return resolveRootModel(named, { agent: null, prompt: '' });
  }

  private get setup(): ModelSetup {
    const { modelSetup: setup } = this.parts;
    if (this.chosenModel === null) return setup;
    return { ...setup, settings: { ...setup.settings, flag: this.chosenModel } };
  }

  /**
   * Finds the definition of the main agent; null if `name` is undefined. Throws UsageError for an unknown name, and for
   * an agent to which a flag grants a mode, because such a grant has no effect on the main agent.
   */
  findMainAgent(name: string | undefined): AgentDefinition | null {
    if (name === undefined) return null;
    const found = findAgent(name, this.parts.agents.current.items);
    if (!found.ok) throw new UsageError(found.error.message);
    const { agent } = found;
    const mistake = this.describeIneffectiveGrant(agent);
    if (mistake !== null) throw new UsageError(mistake);
    return agent;
  }

  /**
   * Describes the flag that grants a mode to the main agent, which has no effect: the main agent has the mode of the
   * session. Returns null if there is no such flag.
   */
  describeIneffectiveGrant(mainAgent: AgentDefinition): string | null {
    const grants = this.parts.inbox.modeGrants?.listGrants() ?? [];
    const flagGrants = grants.filter(({ source }) => source.kind === 'flag');
    const grant = findModeGrant(mainAgent, flagGrants);
    if (grant === null) return null;
    const name = escapeLine(mainAgent.name);
    return `${grant.source.where} ${name}=${grant.mode}: ${name} is the main agent: use --permission-mode ${grant.mode}`;
  }

  resolveModel(agent: AgentDefinition | null, prompt = ''): ResolvedModel {
    return resolveRootModel(this.setup, { agent, prompt });
  }
}

/**
 * Resolves the model of a root task. If the user has not chosen a model, a named agent uses the model of its
 * definition.
 *
 * @param options `agent` is null for the main agent
 */
function resolveRootModel(
  setup: ModelSetup,
  { agent, prompt }: { readonly agent: AgentDefinition | null; readonly prompt: string },
): ResolvedModel {
  const main = resolveMainModel(setup, { agent: agent ?? MAIN_AGENT, prompt });
  const namesNone = agent === null || requestedModels(agent).length === 0;
  const isRemote = agent?.remote !== undefined;
  if (agent === null || (!isRemote && (namesNone || setup.settings.flag !== undefined))) {
    return main;
  }
  const model = resolveTaskModel(setup, {
    call: undefined,
    definition: requestedModels(agent),
    agent,
    prompt,
    parent: main,
    allowOverride: true,
  });
  if (model instanceof Error) throw model;
  return model;
}
