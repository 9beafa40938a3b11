import { join } from 'node:path';
import { defineFormat, isMarkdown } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const claude = {
  name: 'claude',
  agents: defineFormat({
    vendor: 'claude',
    locations: {
      project: ['.claude/agents'],
      user: (user) => [join(PRODUCT_HOMES.claude(user), 'agents')],
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).claudeReader,
  }),
  skills: {
    project: ['.claude/skills'],
    user: (user) => [join(PRODUCT_HOMES.claude(user), 'skills')],
  },
  detection: { directories: ['.claude', '.claude-plugin'] },
} satisfies AgentVendor;
