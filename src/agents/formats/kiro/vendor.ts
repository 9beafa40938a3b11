import { join } from 'node:path';
import { defineFormat, isJson, isMarkdown } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';

export const kiro = {
  name: 'kiro',
  agents: defineFormat({
    vendor: 'kiro',
    locations: { project: ['.kiro/agents'], user: ({ home }) => [join(home, '.kiro', 'agents')] },
    accepts: (fileName) => isMarkdown(fileName) || isJson(fileName),
    loadReader: async () => (await import('./reader.ts')).kiroReader,
  }),
  skills: { project: ['.kiro/skills'], user: ({ home }) => [join(home, '.kiro', 'skills')] },
  detection: {
    directories: ['.kiro'],
    frontMatter:
      /^(?:toolsSettings|toolAliases|includeMcpJson|useLegacyMcpJson|keyboardShortcut|welcomeMessage):/m,
    // JSON with a field of Kiro's own, and one that every agent has.
    isAgent: (text) =>
      /"(?:allowedTools|toolsSettings|toolAliases|useLegacyMcpJson|includeMcpJson)"\s*:/.test(
        text,
      ) && /"(?:prompt|description)"\s*:/.test(text),
  },
} satisfies AgentVendor;
