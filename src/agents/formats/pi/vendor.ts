import { join } from 'node:path';
import { defineFormat, isMarkdown } from '../../loader/format.ts';
import { PRODUCT_HOMES } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const pi = {
  name: 'pi',
  agents: defineFormat({
    vendor: 'pi',
    locations: {
      project: ['.pi/agents'],
      user: (user) => [join(PRODUCT_HOMES.pi(user), 'agents')],
    },
    // A chain is a sequence of agents and no agent itself.
    accepts: (fileName) => isMarkdown(fileName) && !/\.chain\.md$/i.test(fileName),
    loadReader: async () => (await import('./reader.ts')).piReader,
  }),
  skills: { project: ['.pi/skills'], user: (user) => [join(PRODUCT_HOMES.pi(user), 'skills')] },
  detection: {
    directories: ['.pi'],
    frontMatter: /^(?:thinking|systemPromptMode|inheritProjectContext|inheritSkills):/m,
  },
} satisfies AgentVendor;
