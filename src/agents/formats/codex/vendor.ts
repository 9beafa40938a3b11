import { join } from 'node:path';
import { defineFormat, isToml, vendorLocations } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const codex = {
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
  skills: vendorLocations('.codex', 'skills', PRODUCT_HOMES.codex),
  detection: {
    directories: ['.codex'],
    isAgent: (text) => /^[ \t]*(?:developer_instructions[ \t]*=|\[agents\.)/m.test(text),
  },
} satisfies AgentVendor;
