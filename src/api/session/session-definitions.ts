import { AGENTS, SKILLS, TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { systemClock } from '../../base/clock.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { trustFile } from '../../trust/trust-store.ts';
import { untrustedNotice } from '../../trust/untrusted-notice.ts';
import { openDefinitions } from '../setup/definitions.ts';
import type { SessionConfig } from './session-config.ts';

/**
 * Loads the agents, skills and templates that the session can use, and gives a notice about files of the project
 * that are not trusted.
 *
 * @param sessionAgents definitions that take precedence over all files
 */
export async function openSessionDefinitions(
  { environment, roots: [cwd], directory, loaded, trust, currentTrust, onNotice }: SessionConfig,
  sessionAgents: readonly AgentDefinition[],
) {
  const searchContext = createSearchContext(cwd, environment);
  const search = {
    cwd,
    environment,
    trust,
    currentTrust,
    dependsOn: [trustFile(directory)],
    clock: systemClock,
    onNotice,
    context: searchContext,
  };
  const agents = await openDefinitions(AGENTS, { ...search, session: sessionAgents });
  const skills = await openDefinitions(SKILLS, search);
  const templates = await discoverDefinitions(TEMPLATES, {
    ...search,
    // The built-in templates alone are examples, and not worth their bytes in every request.
    builtins: 'with-others',
  });
  const skipped = [...agents.current.skipped, ...skills.current.skipped];
  const untrusted = untrustedNotice({ files: loaded.files, skipped });
  if (untrusted !== null) onNotice(untrusted);
  const loadTemplates = () =>
    discoverDefinitions(TEMPLATES, { cwd, environment, trust: currentTrust() });
  return { agents, skills, templates, loadTemplates, searchContext };
}
