import { join } from 'node:path';
import { defineFormat, isMarkdown } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';

export const factory = {
  name: 'factory',
  agents: defineFormat({
    vendor: 'factory',
    locations: {
      project: ['.factory/droids'],
      user: ({ home }) => [join(home, '.factory', 'droids')],
    },
    accepts: isMarkdown,
    loadReader: async () => (await import('./reader.ts')).factoryReader,
  }),
  skills: { project: ['.factory/skills'], user: ({ home }) => [join(home, '.factory', 'skills')] },
  detection: { directories: ['.factory', 'droids'], frontMatter: /^(?:reasoningEffort):/m },
} satisfies AgentVendor;
