import { join } from 'node:path';
import { defineFormat, isMarkdown, vendorLocations } from '../../loader/format.ts';
import type { AgentVendor } from '../vendor.ts';
import { genReader, musterReader, subagentReader } from './reader.ts';

/** Muster's own format, which the built-in agents use, too. Every start needs its reader. */
export const muster = {
  agents: defineFormat({
    vendor: 'muster',
    locations: {
      project: ['.muster/agents'],
      user: ({ config }) => [join(config, 'muster', 'agents')],
    },
    accepts: isMarkdown,
    loadReader: () => musterReader,
  }),
  skills: { project: ['.muster/skills'], user: ({ config }) => [join(config, 'muster', 'skills')] },
  detection: {
    directories: ['.muster'],
    frontMatter:
      /^(?:result-max-tokens|wall-seconds|delegates-to|refuses-questions|ask-rules|deny-rules|unlisted):/m,
    isTestedLast: true,
  },
} satisfies AgentVendor;

/** The `.gen/agents/*.md` files of GenCode. */
export const gen = {
  agents: defineFormat({
    vendor: 'gen',
    locations: vendorLocations('.gen', 'agents'),
    accepts: isMarkdown,
    loadReader: () => genReader,
  }),
  detection: { directories: ['.gen'] },
} satisfies AgentVendor;

/** The `NAME/SUBAGENT.md` files of Pegasus. */
export const subagent = {
  agents: defineFormat({
    vendor: 'subagent',
    locations: { project: ['data/subagents', 'subagents'], user: () => [] },
    accepts: (fileName) => fileName === 'SUBAGENT.md',
    loadReader: () => subagentReader,
  }),
  detection: { fileName: /^SUBAGENT\.md$/ },
} satisfies AgentVendor;
