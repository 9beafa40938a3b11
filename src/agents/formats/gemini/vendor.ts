import { join } from 'node:path';
import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const gemini = {
  agents: defineFormat({
    vendor: 'gemini',
    locations: {
      ...vendorLocations('.gemini', 'agents', PRODUCT_HOMES.gemini),
      extensions: (user) => join(PRODUCT_HOMES.gemini(user), 'extensions'),
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).geminiReader,
  }),
  skills: vendorLocations('.gemini', 'skills', PRODUCT_HOMES.gemini),
  detection: {
    directories: ['.gemini'],
    frontMatter:
      /^(?:kind:\s*(?:local|remote)\b|agent_card_url:|agent_card_json:|max_turns:|timeout_mins:|mcp_servers:)/m,
  },
} satisfies AgentVendor;
