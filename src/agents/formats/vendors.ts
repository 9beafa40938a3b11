import { isAbsolute, join } from 'node:path';
import { isJson, isMarkdown, isToml, isYaml } from './file-names.ts';
import { PRODUCT_HOMES, type UserDirectories } from '../loader/user-directories.ts';
import type { AgentFormat } from '../loader/kind.ts';
import { lazyFormat } from './vendor.ts';
import { genReader, musterReader, subagentReader } from './muster/reader.ts';

/** Muster's own, the built-in agents' too: the one reader that every start needs. */
export const musterFormat = lazyFormat({
  vendor: 'muster',
  places: {
    project: ['.muster/agents'],
    user: ({ config }) => [join(config, 'muster', 'agents')],
  },
  accepts: isMarkdown,
  reader: () => musterReader,
});

export const genFormat = lazyFormat({
  vendor: 'gen',
  places: { project: ['.gen/agents'], user: ({ home }) => [join(home, '.gen', 'agents')] },
  accepts: isMarkdown,
  reader: () => genReader,
});

export const subagentFormat = lazyFormat({
  vendor: 'subagent',
  places: { project: ['data/subagents', 'subagents'], user: () => [] },
  accepts: (fileName) => fileName === 'SUBAGENT.md',
  reader: () => subagentReader,
});

export const claudeFormat = lazyFormat({
  vendor: 'claude',
  places: {
    project: ['.claude/agents'],
    user: (user) => [join(PRODUCT_HOMES.claude(user), 'agents')],
  },
  accepts: isMarkdown,
  reader: async () => (await import('./claude/reader.ts')).claudeReader,
});

const OPENCODE_FILES = ['opencode.jsonc', 'opencode.json'];
/**
 * What may lie in a directory of opencode's. The older `modes` are a person's to choose from. A markdown
 * file goes before an entry of the same name.
 */
const IN_OPENCODE = ['agents', 'agent', 'modes', 'mode', ...OPENCODE_FILES];

export const opencodeFormat = lazyFormat({
  vendor: 'opencode',
  places: {
    project: [...IN_OPENCODE.map((name) => join('.opencode', name)), ...OPENCODE_FILES],
    user: ({ home, config, named }) =>
      [named('OPENCODE_CONFIG_DIR'), join(config, 'opencode'), join(home, '.opencode')]
        .filter((directory) => directory !== undefined)
        .flatMap((directory) => IN_OPENCODE.map((name) => join(directory, name))),
  },
  accepts: (fileName) => isMarkdown(fileName) || OPENCODE_FILES.includes(fileName),
  reader: async () => (await import('./opencode/reader.ts')).opencodeReader,
});

export const geminiFormat = lazyFormat({
  vendor: 'gemini',
  places: {
    project: ['.gemini/agents'],
    user: (user) => [join(PRODUCT_HOMES.gemini(user), 'agents')],
  },
  accepts: isMarkdown,
  reader: async () => (await import('./gemini/reader.ts')).geminiReader,
});

export const qwenFormat = lazyFormat({
  vendor: 'qwen',
  places: {
    project: ['.qwen/agents'],
    user: (user) => [join(PRODUCT_HOMES.qwen(user), 'agents')],
  },
  accepts: isMarkdown,
  reader: async () => (await import('./qwen/reader.ts')).qwenReader,
});

export const copilotFormat = lazyFormat({
  vendor: 'copilot',
  places: {
    project: ['.github/agents', '.github/chatmodes'],
    user: (user) => [join(PRODUCT_HOMES.copilot(user), 'agents')],
  },
  accepts: isMarkdown,
  reader: async () => (await import('./copilot/reader.ts')).copilotReader,
});

/**
 * Cursor also reads the agents of Claude Code and the markdown that lies where Codex keeps its own; the
 * former are Claude Code's here, the latter nobody else's.
 */
export const cursorFormat = lazyFormat({
  vendor: 'cursor',
  places: {
    project: ['.cursor/agents', '.codex/agents'],
    user: ({ home }) => [join(home, '.cursor', 'agents'), join(home, '.codex', 'agents')],
  },
  accepts: isMarkdown,
  reader: async () => (await import('./cursor/reader.ts')).cursorReader,
});

export const factoryFormat = lazyFormat({
  vendor: 'factory',
  places: { project: ['.factory/droids'], user: ({ home }) => [join(home, '.factory', 'droids')] },
  accepts: isMarkdown,
  reader: async () => (await import('./factory/reader.ts')).factoryReader,
});

export const kiroFormat = lazyFormat({
  vendor: 'kiro',
  places: { project: ['.kiro/agents'], user: ({ home }) => [join(home, '.kiro', 'agents')] },
  accepts: (fileName) => isMarkdown(fileName) || isJson(fileName),
  reader: async () => (await import('./kiro/reader.ts')).kiroReader,
});

export const codexFormat = lazyFormat({
  vendor: 'codex',
  places: {
    project: ['.codex/agents', '.codex/config.toml'],
    user: (user) => ['agents', 'config.toml'].map((name) => join(PRODUCT_HOMES.codex(user), name)),
  },
  accepts: isToml,
  reader: async () => (await import('./codex/reader.ts')).codexReader,
});

export const gooseFormat = lazyFormat({
  vendor: 'goose',
  places: { project: ['.goose/recipes'], user: goosePlaces },
  accepts: (fileName) => isYaml(fileName) || isJson(fileName),
  reader: async () => (await import('./goose/reader.ts')).gooseReader,
});

function goosePlaces({ config, named }: UserDirectories): readonly string[] {
  const directories = (named('GOOSE_RECIPE_PATH') ?? '').split(':').filter(isAbsolute);
  return [...directories, join(config, 'goose', 'recipes')];
}

export const piFormat = lazyFormat({
  vendor: 'pi',
  places: {
    project: ['.pi/agents'],
    user: (user) => [join(PRODUCT_HOMES.pi(user), 'agents')],
  },
  // A chain is a row of agents, and none itself.
  accepts: (fileName) => isMarkdown(fileName) && !/\.chain\.md$/i.test(fileName),
  reader: async () => (await import('./pi/reader.ts')).piReader,
});

/** The other vendors' formats, in the order in which their places are searched. */
export const VENDOR_FORMATS: readonly AgentFormat[] = [
  opencodeFormat,
  geminiFormat,
  qwenFormat,
  copilotFormat,
  cursorFormat,
  factoryFormat,
  kiroFormat,
  codexFormat,
  gooseFormat,
  piFormat,
];

/** Every format that Muster loads. */
export const FORMATS: readonly AgentFormat[] = [
  musterFormat,
  genFormat,
  claudeFormat,
  ...VENDOR_FORMATS,
  subagentFormat,
];
