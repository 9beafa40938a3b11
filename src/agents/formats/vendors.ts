import { isAbsolute, join } from 'node:path';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { readMarkdownAgent } from '../fields/read-agent.ts';
import {
  configLocations,
  defineFormat,
  isJson,
  isMarkdown,
  isToml,
  isYaml,
  vendorLocations,
  type DefinitionFormat,
  type FormatOptions,
  type Locations,
} from '../loader/format.ts';
import { PRODUCT_HOMES, type UserDirectories } from '../loader/search-context.ts';
import { genReader, musterReader, subagentReader } from './muster/reader.ts';

/** A product whose agent files Muster reads. */
export interface AgentVendor {
  readonly agents: DefinitionFormat;
  /** The locations of the vendor's skills, or null if it has no locations of its own. */
  readonly skills: Locations | null;
  readonly detection: Detection;
}

/** The rules by which an agent file of a vendor is recognized in any directory. */
interface Detection {
  /** The names of directories that belong only to this vendor. */
  readonly directories: readonly string[];
  /** Matches file names that belong to this vendor in any directory. */
  readonly fileName?: RegExp;
  /** Matches front matter with a field that only this vendor documents. */
  readonly frontMatter?: RegExp;
  /**
   * Whether this vendor's front matter is tested after that of all other vendors, because its field names are common
   * words.
   */
  readonly isTestedLast?: boolean;
  /** Returns whether a text is an agent of this vendor. Used for file types that many programs use, such as JSON. */
  readonly isAgent?: (text: string) => boolean;
}

type Format = FormatOptions<AgentDefinition>;

/**
 * The differences between one vendor and most others. By default, the vendor NAME keeps its files in a directory
 * `.NAME`.
 */
interface VendorOptions extends Pick<Format, 'loadReader'>, Partial<Detection> {
  /** Returns the user's directory of the vendor. Default: `.NAME` in the home directory. */
  readonly home?: (user: UserDirectories) => string;
  /** The locations of agents. Default: `agents` in the vendor's directories. */
  readonly locations?: Locations;
  /** The locations of skills. Default: `skills` in the vendor's directories. */
  readonly skills?: Locations | null;
  /** Returns whether a file name is that of an agent file. Default: markdown files. */
  readonly accepts?: Format['accepts'];
}

function defineVendor(
  vendor: string,
  { home, locations, skills, accepts = isMarkdown, loadReader, ...detection }: VendorOptions,
): AgentVendor {
  const directory = `.${vendor}`;
  return {
    agents: defineFormat({
      vendor,
      locations: locations ?? vendorLocations(directory, 'agents', home),
      accepts,
      loadReader,
    }),
    skills: skills === undefined ? vendorLocations(directory, 'skills', home) : skills,
    detection: { directories: [directory], ...detection },
  };
}

/** Muster's own format, which the built-in agents use, too. Every start needs its reader. */
export const muster = defineVendor('muster', {
  locations: configLocations('muster', 'agents'),
  skills: configLocations('muster', 'skills'),
  loadReader: () => musterReader,
  frontMatter:
    /^(?:result-max-tokens|wall-seconds|delegates-to|refuses-questions|ask-rules|deny-rules|unlisted):/m,
  isTestedLast: true,
});

/** GenCode. */
export const gen = defineVendor('gen', { skills: null, loadReader: () => genReader });

/** Pegasus. */
export const subagent = defineVendor('subagent', {
  locations: { project: ['data/subagents', 'subagents'], user: () => [] },
  skills: null,
  accepts: (fileName) => fileName === 'SUBAGENT.md',
  loadReader: () => subagentReader,
  directories: [],
  fileName: /^SUBAGENT\.md$/,
});

export const claude = defineVendor('claude', {
  home: PRODUCT_HOMES.claude,
  loadReader: async () => (await import('./claude/reader.ts')).claudeReader,
  directories: ['.claude', '.claude-plugin'],
});

export const codex = defineVendor('codex', {
  home: PRODUCT_HOMES.codex,
  locations: {
    project: ['.codex/agents', '.codex/config.toml'],
    user: (user) => ['agents', 'config.toml'].map((name) => join(PRODUCT_HOMES.codex(user), name)),
  },
  accepts: isToml,
  loadReader: async () => (await import('./codex/reader.ts')).codexReader,
  isAgent: (text) => /^[ \t]*(?:developer_instructions[ \t]*=|\[agents\.)/m.test(text),
});

export const copilot = defineVendor('copilot', {
  locations: {
    project: ['.github/agents', '.github/chatmodes'],
    user: (user) => [join(PRODUCT_HOMES.copilot(user), 'agents')],
  },
  skills: vendorLocations('.github', 'skills', PRODUCT_HOMES.copilot),
  loadReader: async () => (await import('./copilot/reader.ts')).copilotReader,
  directories: ['.copilot', '.github'],
  fileName: /\.(?:agent|chatmode)\.md$/i,
  frontMatter: /^(?:handoffs|argument-hint|user-invocable|infer|target):/m,
  isTestedLast: true,
});

/**
 * Cursor's format. Cursor also reads Claude Code's agents, which Muster reads in Claude Code's format, and markdown
 * files in the directory of Codex's agents, which no other product reads. The fields are `name`, `description`,
 * `model`, `readonly` and `is_background`. All of them are optional.
 */
export const cursor = defineVendor('cursor', {
  locations: {
    project: ['.cursor/agents', '.codex/agents'],
    user: ({ home }) => [join(home, '.cursor', 'agents'), join(home, '.codex', 'agents')],
  },
  loadReader: () => ({
    read: (file) => readMarkdownAgent(file, { vendor: 'cursor', loadsBareText: true }),
  }),
  frontMatter: /^(?:readonly|is_background):/m,
});

export const factory = defineVendor('factory', {
  locations: vendorLocations('.factory', 'droids'),
  loadReader: async () => (await import('./factory/reader.ts')).factoryReader,
  directories: ['.factory', 'droids'],
  frontMatter: /^(?:reasoningEffort):/m,
});

export const gemini = defineVendor('gemini', {
  home: PRODUCT_HOMES.gemini,
  locations: {
    ...vendorLocations('.gemini', 'agents', PRODUCT_HOMES.gemini),
    extensions: (user) => join(PRODUCT_HOMES.gemini(user), 'extensions'),
  },
  loadReader: async () => (await import('./gemini/reader.ts')).geminiReader,
  frontMatter:
    /^(?:kind:\s*(?:local|remote)\b|agent_card_url:|agent_card_json:|max_turns:|timeout_mins:|mcp_servers:)/m,
});

export const goose = defineVendor('goose', {
  locations: {
    project: ['.goose/recipes'],
    user: ({ config, readVariable }) => {
      const directories = (readVariable('GOOSE_RECIPE_PATH') ?? '').split(':').filter(isAbsolute);
      return [...directories, join(config, 'goose', 'recipes')];
    },
  },
  skills: configLocations('goose', 'skills'),
  accepts: (fileName) => isYaml(fileName) || isJson(fileName),
  loadReader: async () => (await import('./goose/reader.ts')).gooseReader,
  isAgent: isRecipe,
});

/**
 * Returns whether a text has a title and instructions, at one of the two outermost levels of YAML or anywhere in JSON.
 */
function isRecipe(text: string): boolean {
  const before = /^\s*\{/.test(text.slice(0, 100)) ? '' : '^[ \\t]{0,8}';
  const has = (key: string): boolean =>
    new RegExp(`${before}"?\\b(?:${key})"?[ \\t]*:`, 'm').test(text);
  return has('title') && has('instructions|prompt');
}

export const kiro = defineVendor('kiro', {
  accepts: (fileName) => isMarkdown(fileName) || isJson(fileName),
  loadReader: async () => (await import('./kiro/reader.ts')).kiroReader,
  frontMatter:
    /^(?:toolsSettings|toolAliases|includeMcpJson|useLegacyMcpJson|keyboardShortcut|welcomeMessage):/m,
  // The text is JSON with a field that only Kiro has, and with a field that every agent has.
  isAgent: (text) =>
    /"(?:allowedTools|toolsSettings|toolAliases|useLegacyMcpJson|includeMcpJson)"\s*:/.test(text) &&
    /"(?:prompt|description)"\s*:/.test(text),
});

const OPENCODE_FILES = ['opencode.jsonc', 'opencode.json'];
/**
 * The names that opencode searches for in its directories. Only a person can choose an agent in the older `modes`. A
 * markdown file has precedence over an entry with the same name in a configuration file.
 */
const OPENCODE_NAMES = ['agents', 'agent', 'modes', 'mode', ...OPENCODE_FILES];

export const opencode = defineVendor('opencode', {
  locations: {
    project: [...OPENCODE_NAMES.map((name) => join('.opencode', name)), ...OPENCODE_FILES],
    user: ({ home, config, readVariable }) =>
      [readVariable('OPENCODE_CONFIG_DIR'), join(config, 'opencode'), join(home, '.opencode')]
        .filter((directory) => directory !== undefined)
        .flatMap((directory) => OPENCODE_NAMES.map((name) => join(directory, name))),
  },
  skills: {
    project: ['.opencode/skills', '.opencode/skill'],
    user: ({ config }) => ['skills', 'skill'].map((name) => join(config, 'opencode', name)),
  },
  accepts: (fileName) => isMarkdown(fileName) || OPENCODE_FILES.includes(fileName),
  loadReader: async () => (await import('./opencode/reader.ts')).opencodeReader,
  fileName: /^opencode\.jsonc?$/,
  frontMatter: /^(?:mode:\s*(?:primary|subagent|all)\b|permissions?:\s*$|top_p:|steps:|maxSteps:)/m,
});

export const pi = defineVendor('pi', {
  home: PRODUCT_HOMES.pi,
  // A chain is a sequence of agents, not an agent.
  accepts: (fileName) => isMarkdown(fileName) && !/\.chain\.md$/i.test(fileName),
  loadReader: async () => (await import('./pi/reader.ts')).piReader,
  frontMatter: /^(?:thinking|systemPromptMode|inheritProjectContext|inheritSkills):/m,
});

export const qwen = defineVendor('qwen', {
  home: PRODUCT_HOMES.qwen,
  locations: {
    ...vendorLocations('.qwen', 'agents', PRODUCT_HOMES.qwen),
    extensions: (user) => join(PRODUCT_HOMES.qwen(user), 'extensions'),
  },
  loadReader: async () => (await import('./qwen/reader.ts')).qwenReader,
  frontMatter: /^(?:approvalMode|modelConfig|runConfig|executor):/m,
});

/** The vendors other than Muster, GenCode, Claude Code and Pegasus, in the order in which they are searched. */
export const OTHER_VENDORS: readonly AgentVendor[] = [
  opencode,
  gemini,
  qwen,
  copilot,
  cursor,
  factory,
  kiro,
  codex,
  goose,
  pi,
];

/** All vendors in the order in which they are searched. */
export const AGENT_VENDORS: readonly AgentVendor[] = [
  muster,
  gen,
  claude,
  ...OTHER_VENDORS,
  subagent,
];
