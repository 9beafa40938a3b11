import { basename } from 'node:path';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import { OWN_LIMITS } from '../../fields/limits.ts';
import { MUSTER_MODES } from '../../fields/modes.ts';
import { OWN_FIELDS, readOwnFields } from './own-fields.ts';
import { nameFromPath, readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';

const MUSTER: AgentDialect = {
  vendor: 'muster',
  modes: MUSTER_MODES,
  limits: OWN_LIMITS,
  inactive: ['isolation', 'hooks', 'mcp-servers'],
  own: { names: OWN_FIELDS, read: readOwnFields },
};

/** Reads Muster's own `*.md` agents, including the built-in ones. */
export const musterReader: FormatReader = { read: (file) => readMarkdownAgent(file, MUSTER) };

/** Reads `.gen/agents/*.md`, which have the same fields and values. */
export const genReader: FormatReader = {
  read: (file) => readMarkdownAgent(file, { ...MUSTER, vendor: 'gen' }),
};

/** Reads `NAME/SUBAGENT.md`. */
export const subagentReader: FormatReader = { read: readSubagent };

async function readSubagent(file: DefinitionFile): Promise<FileDefinitions> {
  const { items, problems } = await readMarkdownAgent(file, { ...MUSTER, vendor: 'subagent' });
  return { items: items.map((agent) => compareWithFolder(agent)), problems };
}

function compareWithFolder(agent: AgentDefinition): AgentDefinition {
  const { path } = agent.origin;
  const folder = nameFromPath(path);
  if (agent.name === folder || basename(path) !== 'SUBAGENT.md') return agent;
  const message = `Its name is \`${agent.name}\`, and the name of its folder is \`${folder}\`; its own name counts.`;
  return {
    ...agent,
    problems: [...agent.problems, { code: 'name-differs-from-folder', message, path }],
  };
}
