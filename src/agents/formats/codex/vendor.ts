import { join } from 'node:path';
import { defineFormat, isToml } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const codex = {
  name: 'codex',
  agents: defineFormat({
    vendor: 'codex',
    locations: {
      project: ['.codex/agents', '.codex/config.toml'],
      user: (user) =>
        ['agents', 'config.toml'].map((name) => join(PRODUCT_HOMES.codex(user), name)),
    },
    accepts: isToml,
    loadReader: async () => (await import('./reader.ts')).codexReader,
  }),
  skills: {
    project: ['.codex/skills'],
    user: (user) => [join(PRODUCT_HOMES.codex(user), 'skills')],
  },
  detection: {
    directories: ['.codex'],
    isAgent: (text) => /^[ \t]*(?:developer_instructions[ \t]*=|\[agents\.)/m.test(text),
  },
} satisfies AgentVendor;
