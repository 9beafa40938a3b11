import { join } from 'node:path';
import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const copilot = {
  agents: defineFormat({
    vendor: 'copilot',
    locations: {
      project: ['.github/agents', '.github/chatmodes'],
      user: (user) => [join(PRODUCT_HOMES.copilot(user), 'agents')],
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).copilotReader,
  }),
  skills: vendorLocations('.github', 'skills', PRODUCT_HOMES.copilot),
  detection: {
    directories: ['.copilot', '.github'],
    fileName: /\.(?:agent|chatmode)\.md$/i,
    frontMatter: /^(?:handoffs|argument-hint|user-invocable|infer|target):/m,
    isTestedLast: true,
  },
} satisfies AgentVendor;
