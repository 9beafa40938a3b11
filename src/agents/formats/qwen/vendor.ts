import { join } from 'node:path';
import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const qwen = {
  agents: defineFormat({
    vendor: 'qwen',
    locations: {
      ...vendorLocations('.qwen', 'agents', PRODUCT_HOMES.qwen),
      extensions: (user) => join(PRODUCT_HOMES.qwen(user), 'extensions'),
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).qwenReader,
  }),
  skills: vendorLocations('.qwen', 'skills', PRODUCT_HOMES.qwen),
  detection: {
    directories: ['.qwen'],
    frontMatter: /^(?:approvalMode|modelConfig|runConfig|executor):/m,
  },
} satisfies AgentVendor;
