import { defineFormat, isJson, isMarkdown, vendorLocations } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';

export const kiro = {
  agents: defineFormat({
    vendor: 'kiro',
    locations: vendorLocations('.kiro', 'agents'),
    accepts: (fileName) => isMarkdown(fileName) || isJson(fileName),
    loadReader: async () => (await import('./reader.ts')).kiroReader,
  }),
  skills: vendorLocations('.kiro', 'skills'),
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
