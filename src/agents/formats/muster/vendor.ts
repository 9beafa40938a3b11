import { join, basename } from 'node:path';
import {
  defineFormat,
  isMarkdown,
  vendorLocations,
  type DefinitionFile,
  type FormatReader,
  type FileDefinitions,
} from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { OWN_LIMITS } from '../../fields/limits.ts';
import { MUSTER_MODES } from '../../fields/modes.ts';
import { OWN_FIELDS, readOwnFields } from './own-fields.ts';
import { nameFromPath, readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';

/** Muster's own format, which the built-in agents use, too. Every start needs its reader. */
export const muster = {
  agents: defineFormat({
    vendor: 'muster',
    locations: {
      project: ['.muster/agents'],
      user: ({ config }) => [join(config, 'muster', 'agents')],
    },
    accepts: isMarkdown,
    loadReader: () => musterReader,
  }),
  skills: { project: ['.muster/skills'], user: ({ config }) => [join(config, 'muster', 'skills')] },
  detection: {
    directories: ['.muster'],
    frontMatter:
      /^(?:result-max-tokens|wall-seconds|delegates-to|refuses-questions|ask-rules|deny-rules|unlisted):/m,
    isTestedLast: true,
  },
} satisfies AgentVendor;

/** The `.gen/agents/*.md` files of GenCode. */
export const gen = {
  agents: defineFormat({
    vendor: 'gen',
    locations: vendorLocations('.gen', 'agents'),
    accepts: isMarkdown,
    loadReader: () => genReader,
  }),
  detection: { directories: ['.gen'] },
} satisfies AgentVendor;

/** The `NAME/SUBAGENT.md` files of Pegasus. */
export const subagent = {
  agents: defineFormat({
    vendor: 'subagent',
    locations: { project: ['data/subagents', 'subagents'], user: () => [] },
    accepts: (fileName) => fileName === 'SUBAGENT.md',
    loadReader: () => subagentReader,
  }),
  detection: { fileName: /^SUBAGENT\.md$/ },
} satisfies AgentVendor;

const MUSTER: AgentDialect = {
  vendor: 'muster',
  modes: MUSTER_MODES,
  limits: OWN_LIMITS,
  inactive: ['isolation', 'hooks', 'mcp-servers'],
  own: { names: OWN_FIELDS, read: readOwnFields },
};

/** Reads Muster's own `*.md` agents, including the built-in ones. */
const musterReader: FormatReader = { read: (file) => readMarkdownAgent(file, MUSTER) };

/** Reads `.gen/agents/*.md`, which have the same fields and values. */
const genReader: FormatReader = {
  read: (file) => readMarkdownAgent(file, { ...MUSTER, vendor: 'gen' }),
};

/** Reads `NAME/SUBAGENT.md`. */
const subagentReader: FormatReader = { read: readSubagent };

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
