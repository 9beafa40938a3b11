import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import type { DefinitionKind } from '../../agents/loader/format.ts';
import {
  LiveDefinitions,
  type LiveDefinitionsOptions,
} from '../../agents/loader/live-definitions.ts';
import { errorMessage } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import { createUntrustedNotice } from '../../trust/untrusted-notice.ts';

export interface OpenDefinitionsOptions<T> extends Omit<
  LiveDefinitionsOptions<T>,
  'onReload' | 'onError'
> {
  readonly onNotice: (line: string) => void;
}

/** Loads the definitions of a kind. Reports each later reload as a notice. */
export function openDefinitions<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  { onNotice, ...options }: OpenDefinitionsOptions<T>,
): Promise<LiveDefinitions<T>> {
  return LiveDefinitions.open(kind, {
    ...options,
    onReload: ({ skipped }) => {
      onNotice(`${kind.name} files have changed and were read again`);
      const untrusted = createUntrustedNotice({ files: [], skipped });
      if (untrusted !== null) onNotice(untrusted);
    },
    onError: (thrown) =>
      onNotice(`${kind.name} files could not be read again: ${errorMessage(thrown)}`),
  });
}

type DiscoveryProblems = Pick<DiscoveryResult<unknown>, 'skipped' | 'problems'>;

/** The agents that can be used, in the form of the library. */
export interface DiscoveredAgents extends DiscoveryProblems {
  readonly agents: readonly AgentDefinition[];
  readonly shadowed: readonly { readonly agent: AgentDefinition; readonly by: string }[];
}

/** The skills that can be used, in the form of the library. */
export interface DiscoveredSkills extends DiscoveryProblems {
  readonly skills: readonly SkillDefinition[];
  readonly shadowed: readonly { readonly skill: SkillDefinition; readonly by: string }[];
}

/** The templates that can be used, in the form of the library and of `muster run --list`. */
export interface DiscoveredTemplates extends DiscoveryProblems {
  readonly templates: readonly TemplateDefinition[];
  readonly shadowed: readonly { readonly template: TemplateDefinition; readonly by: string }[];
}

export function toDiscoveredAgents(result: DiscoveryResult<AgentDefinition>): DiscoveredAgents {
  const { items: agents, skipped, problems } = result;
  const shadowed = result.shadowed.map(({ item: agent, by }) => ({ agent, by }));
  return { agents, shadowed, skipped, problems };
}

export function toDiscoveredSkills(result: DiscoveryResult<SkillDefinition>): DiscoveredSkills {
  const { items: skills, skipped, problems } = result;
  const shadowed = result.shadowed.map(({ item: skill, by }) => ({ skill, by }));
  return { skills, shadowed, skipped, problems };
}

export function toDiscoveredTemplates(
  result: DiscoveryResult<TemplateDefinition>,
): DiscoveredTemplates {
  const { items: templates, skipped, problems } = result;
  const shadowed = result.shadowed.map(({ item: template, by }) => ({ template, by }));
  return { templates, shadowed, skipped, problems };
}
