import { AGENTS, SKILLS } from '../../agents/kinds.ts';
import { discoverDefinitions, type DiscoverOptions } from '../../agents/loader/discover.ts';
import type { HookDefinition } from '../../hooks/hook-definition.ts';
import { readHooks, type HooksOfFile } from '../../hooks/read-hooks.ts';
import type { DefinitionHooks } from '../../protocol/hook.ts';
import { readHookCondition } from '../../trust/hook-conditions.ts';

/** The hooks in the front matter of the agents and skills that can be used. */
export interface FoundDefinitionHooks {
  /** The hooks of each agent, by its name. */
  readonly agents: ReadonlyMap<string, DefinitionHooks>;
  /** The hooks of each skill, by its name. */
  readonly skills: ReadonlyMap<string, DefinitionHooks>;
}

/** The place in which definitions are searched for. */
type DefinitionPlace = Pick<DiscoverOptions<unknown>, 'cwd' | 'environment' | 'trust' | 'plugins'>;

/** Finds the hooks of the agents and skills that can be used in a directory. */
export async function findDefinitionHooks(place: DefinitionPlace): Promise<FoundDefinitionHooks> {
  const [agents, skills] = await Promise.all([
    discoverDefinitions(AGENTS, place),
    discoverDefinitions(SKILLS, place),
  ]);
  return {
    agents: new Map(
      agents.items.flatMap(({ name, origin, hooks }) =>
        hooks === undefined
          ? []
          : [[name, { source: { kind: 'agent', where: origin.path }, hooks }] as const],
      ),
    ),
    skills: new Map(
      skills.items.flatMap(({ name, path, hooks }) =>
        hooks === undefined
          ? []
          : [[name, { source: { kind: 'skill', where: path }, hooks }] as const],
      ),
    ),
  };
}

/** Reads the hooks of all found agents and skills. Each problem names the file. */
export function readFoundHooks({ agents, skills }: FoundDefinitionHooks): HooksOfFile {
  const read = [...agents.values(), ...skills.values()].map(({ hooks, source }) => {
    const { hooks: list, problems } = readHooks(hooks, source, readHookCondition);
    return { list, problems: problems.map((problem) => `${source.where}: ${problem}`) };
  });
  return {
    hooks: read.flatMap(({ list }) => list),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/**
 * Selects the hooks of the agent of a task and of its skills.
 *
 * @param task `skills`: the names of the skills that the task has
 */
export function selectDefinitionHooks(
  { agents, skills }: FoundDefinitionHooks,
  task: { readonly agentType: string; readonly skills: readonly string[] },
): readonly DefinitionHooks[] {
  return [agents.get(task.agentType), ...task.skills.map((name) => skills.get(name))].filter(
    (each) => each !== undefined,
  );
}

/** Reads the hooks of the definitions of an occasion, as they are due on it. */
export function readOccasionHooks(
  definitions: readonly DefinitionHooks[] = [],
): readonly HookDefinition[] {
  return definitions.flatMap(
    ({ hooks, source }) => readHooks(hooks, source, readHookCondition).hooks,
  );
}
