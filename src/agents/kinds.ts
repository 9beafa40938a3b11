import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { errorMessage } from '../base/errors.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { SkillDefinition } from '../protocol/skill.ts';
import type { TemplateDefinition } from '../protocol/template.ts';
import { TOOL_NAMES } from '../protocol/tool-names.ts';
import { isInside } from '../base/path-inside.ts';
import { loadBuiltinAgents, readBuiltinFiles } from './builtin.ts';
import {
  claude,
  gemini,
  gen,
  muster,
  subagent,
  AGENT_VENDORS,
  OTHER_VENDORS,
} from './formats/vendors.ts';
import {
  type DefinitionFile,
  type DefinitionKind,
  type SearchPath,
  configLocations,
  defineFormat,
  vendorLocations,
  isMarkdown,
  type DefinitionFormat,
  type Locations,
} from './loader/format.ts';
import type { InstalledPlugin } from './loader/search-context.ts';
import type { FoundFile, SkippedPath } from './loader/walk.ts';

const MEGABYTE = 1024 * 1024;

/** Agents, in the formats of all vendors. */
export const AGENTS: DefinitionKind<AgentDefinition> = {
  name: 'agent',
  folder: 'agents',
  searchOrder: [
    [muster.agents],
    [gen.agents],
    [claude.agents],
    OTHER_VENDORS.map(({ agents }) => agents),
    [subagent.agents],
  ],
  projectOrder: 'format',
  maxTotalBytes: 256 * MEGABYTE,
  ownsFolder: false,
  pluginFormat: agentPluginFormat,
  pathOf: ({ origin }) => origin.path,
  loadBuiltins: loadBuiltinAgents,
  merge: mergeLayers,
  givesWay: ({ changesOnly }) => changesOnly === true,
  scan: {
    identify: async (path, text, directory) => {
      const { identifyAgentFile } = await import('./formats/detect-format.ts');
      return identifyAgentFile(path, text, directory);
    },
    shadows: true,
  },
};

/** The vendors whose skills are searched first. The other vendors follow in the order of their table. */
const SKILL_VENDORS_FIRST = ['claude', 'opencode', 'copilot', 'gemini', 'codex', 'cursor', 'qwen'];

/** Skills: files `SKILL.md`, each in a directory of its own, whose name is the name of the skill. */
export const SKILLS: DefinitionKind<SkillDefinition> = {
  name: 'skill',
  folder: 'skills',
  searchOrder: [[skillFormat('muster', configLocations('muster', 'skills'))], otherSkillFormats()],
  projectOrder: 'directory',
  maxTotalBytes: 64 * MEGABYTE,
  ownsFolder: true,
  pluginFormat: skillPluginFormat,
  checkFile: checkSkillFolder,
  pathOf: ({ path }) => path,
  loadBuiltins: async () => [],
  scan: { identify: async () => SCANNED_SKILL, shadows: false },
};

const SCANNED_SKILL = {
  kind: 'format',
  format: skillFormat('muster', configLocations('muster', 'skills')),
} as const;

function skillFormat(
  vendor: string,
  locations: Locations,
  plugin?: string,
): DefinitionFormat<SkillDefinition> {
  return defineFormat({
    vendor,
    locations,
    accepts: (fileName) => fileName.toUpperCase() === 'SKILL.MD',
    loadReader: async () => {
      const { readSkill } = await import('./skills/read-skill.ts');
      return { read: (file) => readSkill(file, plugin) };
    },
  });
}

/** Returns the format of the skills of a plugin, whose names have the form `PLUGIN:SKILL`. */
function skillPluginFormat(plugin: InstalledPlugin): DefinitionFormat<SkillDefinition> {
  const { name, vendor } = plugin;
  const format = skillFormat(vendor, { project: [], user: () => [] }, name);
  return { ...format, read: (file) => format.read(insertPluginRoot(file, plugin)) };
}

/** Replaces the variables that stand for the directory of the plugin, in the text of one of its files. */
function insertPluginRoot(file: DefinitionFile, { root }: InstalledPlugin): DefinitionFile {
  const text = file.text.replaceAll(/\$\{(?:CLAUDE_PLUGIN_ROOT|extensionPath)\}/g, () => root);
  return { ...file, text };
}

/**
 * Returns the formats of all other vendors' skills. The directory that several products share comes first, then each
 * vendor's own directory.
 */
function otherSkillFormats(): readonly DefinitionFormat<SkillDefinition>[] {
  const shared = skillFormat('agents', vendorLocations('.agents', 'skills'));
  const rank = (vendor: string): number =>
    SKILL_VENDORS_FIRST.includes(vendor)
      ? SKILL_VENDORS_FIRST.indexOf(vendor)
      : SKILL_VENDORS_FIRST.length;
  const formats = AGENT_VENDORS.filter((vendor) => vendor !== muster).flatMap(
    ({ agents: { vendor }, skills }) => (skills === null ? [] : [skillFormat(vendor, skills)]),
  );
  return [shared, ...formats.toSorted((a, b) => rank(a.vendor) - rank(b.vendor))];
}

/**
 * Checks the directory of a skill. An agent that uses a skill may read the skill's directory, so the directory must
 * contain only this skill.
 */
function checkSkillFolder(
  file: FoundFile,
  { path: searchedPath, scope }: SearchPath<SkillDefinition>,
): FoundFile | SkippedPath {
  const { path } = file;
  const folder = dirname(path);
  // A plugin may declare the directory of a single skill as a search path.
  const isDeclaredFolder = scope === 'plugin' && basename(searchedPath) !== 'skills';
  if (folder === searchedPath && !isDeclaredFolder) {
    const reason =
      'It does not lie in a folder of its own, which would give it its name. Move it into one.';
    return { path, code: 'not-in-folder', reason };
  }
  try {
    const directory = realpathSync.native(folder);
    // Most directories are reached without links. Then the directory is inside the searched directory.
    if (directory === folder || !isInside(directory, realpathSync.native(searchedPath))) {
      return { ...file, directory };
    }
    const reason = `A link to ${directory}, which holds other skills, too. Copy the skill there instead.`;
    return { path, code: 'link-above', reason };
  } catch (error) {
    const reason = `Its folder cannot be found: ${errorMessage(error)}`;
    return { path, code: 'unreadable', reason };
  }
}

/** Templates: markdown files in Muster's own directories. */
export const TEMPLATES: DefinitionKind<TemplateDefinition> = {
  name: 'template',
  folder: 'templates',
  searchOrder: [[templateFormat()]],
  projectOrder: 'format',
  maxTotalBytes: 64 * MEGABYTE,
  ownsFolder: false,
  pathOf: ({ path }) => path,
  loadBuiltins: loadBuiltinTemplates,
  scan: { identify: async () => ({ kind: 'format', format: templateFormat() }), shadows: true },
};

function templateFormat(): DefinitionFormat<TemplateDefinition> {
  return defineFormat({
    vendor: 'muster',
    locations: configLocations('muster', 'templates'),
    accepts: (fileName) => isMarkdown(fileName) && !/^readme\.md$/i.test(fileName),
    loadReader: async () => ({ read: (await import('./templates/read-template.ts')).readTemplate }),
  });
}

async function loadBuiltinTemplates(): Promise<readonly TemplateDefinition[]> {
  const [format] = TEMPLATES.searchOrder.flat();
  const read = await Promise.all(
    readBuiltinFiles('templates').map((file) => format?.read({ ...file, scope: 'builtin' })),
  );
  return read.flatMap((each) => each?.items ?? []);
}

/**
 * Returns the format of the agents of a plugin. It is the format of the plugin's vendor, but names have the form
 * `PLUGIN:FOLDER:NAME`, and a plugin's agent cannot request a mode.
 */
function agentPluginFormat(plugin: InstalledPlugin): DefinitionFormat {
  const { agents } = { claude, gemini }[plugin.vendor];
  return {
    ...agents,
    locations: { project: [], user: () => [] },
    async read(file) {
      const { items, problems } = await agents.read(insertPluginRoot(file, plugin));
      return { items: items.map((agent) => toPluginAgent(agent, plugin)), problems };
    },
  };
}

function toPluginAgent(agent: AgentDefinition, { name, root }: InstalledPlugin): AgentDefinition {
  const { path } = agent.origin;
  const folders = relative(join(root, 'agents'), path).split('/').slice(0, -1);
  const subdirectories = folders.includes('..') ? [] : folders;
  const renamed = { ...agent, name: [name, ...subdirectories, agent.name].join(':') };
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

/**
 * The products that merge several files for the same agent. In all other products, only the first file has an effect.
 */
const MERGING_VENDORS: ReadonlySet<string> = new Set(['opencode', 'codex']);

/**
 * Adds to each agent the denials in later files of its product for an agent with the same name, as the product itself
 * does. Nothing else in those files has an effect. The order of the agents stays the same.
 */
function mergeLayers(agents: readonly AgentDefinition[]): readonly AgentDefinition[] {
  const layers = Map.groupBy(
    agents.filter(({ origin }) => MERGING_VENDORS.has(origin.vendor)),
    ({ name, origin }) => `${origin.vendor} ${name.toLowerCase()}`,
  );
  const merged = new Map<AgentDefinition, AgentDefinition>();
  for (const [first, ...others] of layers.values()) {
    if (first === undefined || others.length === 0) continue;
    merged.set(first, others.reduce(addDenials, first));
  }
  return merged.size === 0 ? agents : agents.map((agent) => merged.get(agent) ?? agent);
}

type Denials = Pick<AgentDefinition, 'disallowedTools' | 'rules' | 'mode' | 'permissionMode'>;

function addDenials(agent: AgentDefinition, other: AgentDefinition): AgentDefinition {
  const denials: Denials = {
    disallowedTools: union(agent.disallowedTools, listDenied(other)),
    ...mergeDenials(agent, other),
    // The mode of the later file applies only if the first file has none.
    ...(agent.permissionMode === null ? pickMode(other) : pickMode(agent)),
  };
  const isSame =
    denials.disallowedTools.length === agent.disallowedTools.length &&
    JSON.stringify(denials.rules) === JSON.stringify(agent.rules) &&
    denials.mode === agent.mode;
  if (isSame) return agent;
  const message = `${other.origin.path} also defines \`${agent.name}\`: what it denies is denied here, too, and nothing else in it counts.`;
  const problem = { code: 'layered', message, path: agent.origin.path };
  return { ...agent, ...denials, problems: [...agent.problems, problem] };
}

function pickMode({
  mode,
  permissionMode,
}: AgentDefinition): Pick<Denials, 'mode' | 'permissionMode'> {
  return { mode, permissionMode };
}

function listDenied({ tools, disallowedTools }: AgentDefinition): readonly string[] {
  switch (tools.mode) {
    case 'all':
      return disallowedTools;
    case 'deny':
      return [...disallowedTools, ...tools.names];
    case 'allow': {
      const others = TOOL_NAMES.filter((name) => !tools.names.includes(name));
      const servers = tools.names.some((name) => name.startsWith('mcp__')) ? [] : ['mcp__*'];
      return [...disallowedTools, ...others, ...servers];
    }
    default:
      return tools.mode satisfies never;
  }
}

function mergeDenials(agent: AgentDefinition, other: AgentDefinition): Pick<Denials, 'rules'> {
  const ask = union(agent.rules?.ask ?? [], other.rules?.ask ?? []);
  const deny = union(agent.rules?.deny ?? [], other.rules?.deny ?? []);
  return ask.length + deny.length === 0 ? {} : { rules: { ask, deny } };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}
