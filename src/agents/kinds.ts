import { basename, dirname, join } from 'node:path';
import { realpathSync } from 'node:fs';
import { errorMessage } from '../base/errors.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { SkillDefinition } from '../protocol/skill.ts';
import type { TemplateDefinition } from '../protocol/template.ts';
import { isInside } from '../sys/files/paths.ts';
import { loadBuiltinAgents, readBuiltinFiles } from './builtin.ts';
import { claudePluginFormat } from './formats/claude/plugin-format.ts';
import { claude } from './formats/claude/vendor.ts';
import { gen, muster, subagent } from './formats/muster/vendor.ts';
import { OTHER_VENDORS, AGENT_VENDORS } from './formats/vendors.ts';
import {
  defineFormat,
  vendorLocations,
  isMarkdown,
  type DefinitionFormat,
  type Locations,
} from './loader/format.ts';
import type { DefinitionKind, SearchPath } from './loader/kind.ts';
import type { FoundFile, SkippedPath } from './loader/walk.ts';
import { mergeLayers } from './merge-layers.ts';

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
  pluginFormat: claudePluginFormat,
  pathOf: ({ origin }) => origin.path,
  loadBuiltins: loadBuiltinAgents,
  merge: mergeLayers,
  yields: ({ changesOnly }) => changesOnly === true,
  scan: {
    identify: async (path, text, directory) => {
      const { identifyAgentFile } = await import('./formats/detect-format.ts');
      return identifyAgentFile(path, text, directory);
    },
    shadows: true,
  },
};

/** The vendors whose skills are searched first. The others follow in the order of their table. */
const SKILL_VENDORS_FIRST = ['claude', 'opencode', 'copilot', 'gemini', 'codex', 'cursor', 'qwen'];

/** Skills: `SKILL.md`, each in a folder of its own that gives it its name. */
export const SKILLS: DefinitionKind<SkillDefinition> = {
  name: 'skill',
  folder: 'skills',
  searchOrder: [[skillFormat('muster', muster.skills)], otherSkillFormats()],
  projectOrder: 'directory',
  maxTotalBytes: 64 * MEGABYTE,
  ownsFolder: true,
  pluginFormat: ({ name }) => skillFormat('claude', { project: [], user: () => [] }, name),
  checkFile: checkSkillFolder,
  pathOf: ({ path }) => path,
  loadBuiltins: async () => [],
  scan: { identify: async () => SCANNED_SKILL, shadows: false },
};

const SCANNED_SKILL = {
  kind: 'format',
  format: skillFormat('muster', muster.skills),
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

/** The directory that products share comes first, then each vendor's own. */
function otherSkillFormats(): readonly DefinitionFormat<SkillDefinition>[] {
  const shared = skillFormat('agents', vendorLocations('.agents', 'skills'));
  const rank = (vendor: string): number =>
    SKILL_VENDORS_FIRST.includes(vendor)
      ? SKILL_VENDORS_FIRST.indexOf(vendor)
      : SKILL_VENDORS_FIRST.length;
  const formats = AGENT_VENDORS.filter((vendor) => vendor !== muster).flatMap(
    ({ agents: { vendor }, skills }) => (skills === undefined ? [] : [skillFormat(vendor, skills)]),
  );
  return [shared, ...formats.toSorted((a, b) => rank(a.vendor) - rank(b.vendor))];
}

/** An agent that uses a skill may read its folder, so the folder must contain nothing but that skill. */
function checkSkillFolder(
  file: FoundFile,
  { path: searched, scope }: SearchPath<SkillDefinition>,
): FoundFile | SkippedPath {
  const { path } = file;
  const folder = dirname(path);
  // A plugin may declare the folder of a single skill.
  const isDeclaredFolder = scope === 'plugin' && basename(searched) !== 'skills';
  if (folder === searched && !isDeclaredFolder) {
    const reason =
      'It does not lie in a folder of its own, which would give it its name. Move it into one.';
    return { path, code: 'not-in-folder', reason };
  }
  try {
    const directory = realpathSync.native(folder);
    // A folder without links, as most are, lies below the searched directory.
    if (directory === folder || !isInside(directory, realpathSync.native(searched))) {
      return { ...file, directory };
    }
    const reason = `A link to ${directory}, which holds other skills, too. Copy the skill there instead.`;
    return { path, code: 'link-above', reason };
  } catch (error) {
    const reason = `Its folder cannot be found: ${errorMessage(error)}`;
    return { path, code: 'unreadable', reason };
  }
}

/** Templates: markdown files in directories of Muster's own. */
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
    locations: {
      project: ['.muster/templates'],
      user: ({ config }) => [join(config, 'muster', 'templates')],
    },
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
