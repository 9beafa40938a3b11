import { join } from 'node:path';
import { defineFormat, isMarkdown } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';

const CONFIG_FILES = ['opencode.jsonc', 'opencode.json'];
/**
 * The names that opencode looks for in a directory of its own. Only a person can choose an agent in the older
 * `modes`. A markdown file has precedence over an entry of the same name.
 */
const IN_DIRECTORY = ['agents', 'agent', 'modes', 'mode', ...CONFIG_FILES];

export const opencode = {
  agents: defineFormat({
    vendor: 'opencode',
    locations: {
      project: [...IN_DIRECTORY.map((name) => join('.opencode', name)), ...CONFIG_FILES],
      user: ({ home, config, named }) =>
        [named('OPENCODE_CONFIG_DIR'), join(config, 'opencode'), join(home, '.opencode')]
          .filter((directory) => directory !== undefined)
          .flatMap((directory) => IN_DIRECTORY.map((name) => join(directory, name))),
    },
    accepts: (fileName) => isMarkdown(fileName) || CONFIG_FILES.includes(fileName),
    loadReader: async () => (await import('./reader.ts')).opencodeReader,
  }),
  skills: {
    project: ['.opencode/skills', '.opencode/skill'],
    user: ({ config }) => [join(config, 'opencode', 'skills'), join(config, 'opencode', 'skill')],
  },
  detection: {
    directories: ['.opencode'],
    fileName: /^opencode\.jsonc?$/,
    frontMatter:
      /^(?:mode:\s*(?:primary|subagent|all)\b|permissions?:\s*$|top_p:|steps:|maxSteps:)/m,
  },
} satisfies AgentVendor;
