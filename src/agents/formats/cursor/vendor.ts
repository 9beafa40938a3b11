import { join } from 'node:path';
import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';

/**
 * Cursor also reads the agents of Claude Code and markdown files in the folder where Codex keeps its own. The former
 * are read in Claude Code's format here; the latter are read by no other product.
 */
export const cursor = {
  agents: defineFormat({
    vendor: 'cursor',
    locations: {
      project: ['.cursor/agents', '.codex/agents'],
      user: ({ home }) => [join(home, '.cursor', 'agents'), join(home, '.codex', 'agents')],
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).cursorReader,
  }),
  skills: vendorLocations('.cursor', 'skills'),
  detection: {
    directories: ['.cursor'],
    frontMatter: /^(?:readonly|is_background):/m,
  },
} satisfies AgentVendor;
