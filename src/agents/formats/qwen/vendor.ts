import { join } from 'node:path';
import { defineFormat, isMarkdown } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const qwen = {
  name: 'qwen',
  agents: defineFormat({
    vendor: 'qwen',
    locations: {
      project: ['.qwen/agents'],
      user: (user) => [join(PRODUCT_HOMES.qwen(user), 'agents')],
      extensions: (user) => join(PRODUCT_HOMES.qwen(user), 'extensions'),
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).qwenReader,
  }),
  skills: { project: ['.qwen/skills'], user: (user) => [join(PRODUCT_HOMES.qwen(user), 'skills')] },
  detection: {
    directories: ['.qwen'],
    frontMatter: /^(?:approvalMode|modelConfig|runConfig|executor):/m,
  },
} satisfies AgentVendor;
