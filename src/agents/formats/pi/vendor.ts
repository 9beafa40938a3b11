import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const pi = {
  agents: defineFormat({
    vendor: 'pi',
    locations: vendorLocations('.pi', 'agents', PRODUCT_HOMES.pi),
    // A chain is a sequence of agents and no agent itself.
    accepts: (fileName) => isMarkdown(fileName) && !/\.chain\.md$/i.test(fileName),
    loadReader: async () => (await import('./reader.ts')).piReader,
  }),
  skills: vendorLocations('.pi', 'skills', PRODUCT_HOMES.pi),
  detection: {
    directories: ['.pi'],
    frontMatter: /^(?:thinking|systemPromptMode|inheritProjectContext|inheritSkills):/m,
  },
} satisfies AgentVendor;
