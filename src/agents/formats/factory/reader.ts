import { readServerNames, SERVERS_FIELD } from '../../fields/server-names.ts';
import type { FormatReader } from '../../loader/format.ts';
import { readMarkdownAgent, type AgentDialect } from '../../fields/read-agent.ts';

const FACTORY: AgentDialect = {
  vendor: 'factory',
  inactive: [SERVERS_FIELD],
  own: { names: [SERVERS_FIELD], read: readServerNames },
};

/** Reads Factory's droids. */
export const factoryReader: FormatReader = { read: (file) => readMarkdownAgent(file, FACTORY) };
