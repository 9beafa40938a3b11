import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';

export const factory = {
  agents: defineFormat({
    vendor: 'factory',
    locations: vendorLocations('.factory', 'droids'),
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).factoryReader,
  }),
  skills: vendorLocations('.factory', 'skills'),
  detection: { directories: ['.factory', 'droids'], frontMatter: /^(?:reasoningEffort):/m },
} satisfies AgentVendor;
