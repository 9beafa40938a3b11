import { TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { openDefinitionLocation, type AgentsLocation } from '../agents/load-agents.ts';
import { toDiscoveredTemplates, type DiscoveredTemplates } from '../setup/definitions.ts';

/**
 * Lists the templates that can be used in a directory. Throws UsageError if the path is not a directory.
 */
export async function listTemplatesIn(location: AgentsLocation): Promise<DiscoveredTemplates> {
  const opened = await openDefinitionLocation(location);
  return toDiscoveredTemplates(await discoverDefinitions(TEMPLATES, opened));
}
