import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const claude = {
  agents: defineFormat({
    vendor: 'claude',
    locations: vendorLocations('.claude', 'agents', PRODUCT_HOMES.claude),
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).claudeReader,
  }),
  skills: vendorLocations('.claude', 'skills', PRODUCT_HOMES.claude),
  detection: { directories: ['.claude', '.claude-plugin'] },
} satisfies AgentVendor;
