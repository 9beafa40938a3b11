import { join, relative } from 'node:path';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { DefinitionFormat } from '../../loader/format.ts';
import type { InstalledPlugin } from '../../loader/kind.ts';
import { claude } from './vendor.ts';

/**
 * Returns the format of the agents of a plugin: Claude Code's, with names of the form `PLUGIN:FOLDER:NAME`, and
 * without what a plugin must not decide (mode, hooks, servers).
 */
export function claudePluginFormat(plugin: InstalledPlugin): DefinitionFormat {
  return {
    ...claude.agents,
    locations: { project: [], user: () => [] },
    async read(file) {
      const { items, problems } = await claude.agents.read(file);
      return { items: items.map((agent) => asPluginAgent(agent, plugin)), problems };
    },
  };
}

function asPluginAgent(agent: AgentDefinition, { name, root }: InstalledPlugin): AgentDefinition {
  const { path } = agent.origin;
  const folders = relative(join(root, 'agents'), path).split('/').slice(0, -1);
  const inside = folders.includes('..') ? [] : folders;
  const renamed = { ...agent, name: [name, ...inside, agent.name].join(':') };
  if (agent.permissionMode === null) return renamed;
  const message = `An agent of a plugin cannot ask for a mode (\`${agent.permissionMode}\`); it gets the mode of its parent.`;
  const { refusesQuestions: _, ...rest } = renamed;
  return {
    ...rest,
    permissionMode: null,
    mode: null,
    problems: [...agent.problems, { code: 'plugin-mode', message, path }],
  };
}
