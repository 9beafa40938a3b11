import { homedir } from 'node:os';
import { TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { readEnvironment } from '../../sys/env.ts';
import type { AgentsLocation } from '../agents/load-agents.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { workspaceRoots } from '../setup/workspace.ts';
import { discoveredTemplates, type DiscoveredTemplates } from '../setup/definitions.ts';

/**
 * Lists the templates that can be used in a directory. Throws UsageError if it is not a directory.
 */
export async function listTemplatesIn(place: AgentsLocation): Promise<DiscoveredTemplates> {
  const environment = place.environment ?? readEnvironment();
  const [cwd] = workspaceRoots(place.cwd, []);
  const { dataDir, trustProject: decision } = place;
  const home = environment['HOME'] || homedir();
  const state = { environment, home, cwd, ...(dataDir === undefined ? {} : { dataDir }) };
  const trust = createProjectTrust({ ...state, decision, onProblem: place.onNotice ?? (() => {}) });
  return discoveredTemplates(await discoverDefinitions(TEMPLATES, { cwd, environment, trust }));
}
