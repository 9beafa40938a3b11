import type { SessionParts } from './session-parts.ts';
import { UsageError } from '../../base/errors.ts';
import type { RootGrant } from '../../policy/attenuate.ts';
import type { ModelSetup } from '../../model/selection/choose-model.ts';
import { findModeGrant } from '../../policy/mode-grants.ts';
import { type AgentDefinition, requestedModels } from '../../protocol/agent.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { escapeLine } from '../../config/message-text.ts';
import { findAgent } from '../../agents/find-agent.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { resolveMainModel, resolveTaskModel } from '../../model/selection/resolve-model.ts';

/** The agent, model and rights of a new root task. */
export class RootDefaults {
  private readonly parts: SessionParts;
  /** The model chosen since the start, as a flag would name it. */
  private chosenModel: string | null = null;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get cwd(): string {
    const [cwd = ''] = this.parts.grant.roots;
    return cwd;
  }

  /** Returns the rights of a new root task. Default mode: that of this start. */
  grantIn(mode?: PermissionMode): RootGrant {
    const { grant } = this.parts;
    return mode === undefined ? grant : { ...grant, mode };
  }

  /** True if a model was requested here. Otherwise a resumed task keeps its own. */
  get isModelNamed(): boolean {
    return this.setup.settings.flag !== undefined;
  }

  /**
   * Chooses the model of new root tasks. Throws MusterError if there is no such model, and then changes nothing.
   */
  chooseModel(name: string): ResolvedModel {
    const before = this.chosenModel;
    this.chosenModel = name;
    try {
      return this.model(null);
    } catch (thrown) {
      this.chosenModel = before;
      throw thrown;
    }
  }

  private get setup(): ModelSetup {
    const { setup } = this.parts;
    if (this.chosenModel === null) return setup;
    return { ...setup, settings: { ...setup.settings, flag: this.chosenModel } };
  }

  /**
   * Finds the definition that a main agent runs as; null where none is named. Throws UsageError for an unknown
   * name, and for an agent to which a flag grants a mode, since a grant has no effect on a main agent.
   */
  agentNamed(name: string | undefined): AgentDefinition | null {
    if (name === undefined) return null;
    const found = findAgent(name, this.parts.agents.current.items);
    if (!found.ok) throw new UsageError(found.error.message);
    const { agent } = found;
    const mistake = this.grantWithoutEffect(agent);
    if (mistake !== null) throw new UsageError(mistake);
    return agent;
  }

  /**
   * Says that a flag of this start grants a mode to an agent that is the main agent, which keeps the mode of
   * the start. Returns null if no flag does.
   */
  grantWithoutEffect(mainAgent: AgentDefinition): string | null {
    const grants = this.parts.inbox.modeGrants?.listGrants() ?? [];
    const given = grants.filter(({ source }) => source.kind === 'flag');
    const grant = findModeGrant(mainAgent, given);
    if (grant === null) return null;
    const name = escapeLine(mainAgent.name);
    return `${grant.source.where} ${name}=${grant.mode}: ${name} is the main agent: use --permission-mode ${grant.mode}`;
  }

  model(agent: AgentDefinition | null, prompt = ''): ResolvedModel {
    return resolveRootModel(this.setup, { agent, prompt });
  }
}

/**
 * Resolves the model of a root task. A named agent's own model counts if the user named none.
 *
 * @param options `agent` is null for the main agent
 */
function resolveRootModel(
  setup: ModelSetup,
  { agent, prompt }: { readonly agent: AgentDefinition | null; readonly prompt: string },
): ResolvedModel {
  const main = resolveMainModel(setup, { agent: agent ?? MAIN_AGENT, prompt });
  if (agent === null || requestedModels(agent).length === 0 || setup.settings.flag !== undefined) {
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
