import { TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { openLocation, type AgentsLocation } from '../agents/load-agents.ts';
import { discoveredTemplates, type DiscoveredTemplates } from '../setup/definitions.ts';

/**
 * Lists the templates that can be used in a directory. Throws UsageError if it is not a directory.
 */
export async function listTemplatesIn(place: AgentsLocation): Promise<DiscoveredTemplates> {
  const { state, trust } = openLocation(place);
  return discoveredTemplates(await discoverDefinitions(TEMPLATES, { ...state, trust }));
}
