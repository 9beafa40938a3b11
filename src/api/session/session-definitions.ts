import { SLASH_COMMANDS } from '../../agents/commands/kind.ts';
import { join } from 'node:path';
import { AGENTS, SKILLS, TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { UNTRUSTED } from '../../agents/loader/discovery-result.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { systemClock } from '../../base/clock.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { comparesAttempts } from '../../protocol/template.ts';
import { PLUGINS_FILE } from '../../trust/state-directory.ts';
import { trustFile } from '../../trust/trust-store.ts';
import { createUntrustedNotice } from '../../trust/untrusted-notice.ts';
import { openDefinitions } from '../setup/definitions.ts';
import type { SessionConfig } from './session-config.ts';

/**
 * Loads the agents, skills, slash commands and templates that the session can use. Reports project files that are not trusted as a
 * notice.
 *
 * @param sessionAgents definitions that take precedence over all files
 */
export async function loadSessionDefinitions(
  session: SessionConfig,
  sessionAgents: readonly AgentDefinition[],
) {
  const { environment, roots, directory, loaded, trust, currentTrust, onNotice } = session;
  const [cwd] = roots;
  const searchContext = createSearchContext(cwd, environment, session.plugins.definitions);
  const search = {
    cwd,
    environment,
    trust,
    currentTrust,
    currentPlugins: async () => (await session.currentPlugins()).definitions,
    dependsOn: [trustFile(directory), join(directory, PLUGINS_FILE)],
    clock: systemClock,
    onNotice,
    context: searchContext,
  };
  const agents = await openDefinitions(AGENTS, { ...search, session: sessionAgents });
  const skills = await openDefinitions(SKILLS, search);
  const slashCommands = await openDefinitions(SLASH_COMMANDS, search);
  const found = await discoverDefinitions(TEMPLATES, {
    ...search,
    // The built-in templates are only examples. If there are no others, they are not worth their bytes in every
    // request.
    builtins: 'with-others',
  });
  // RunTemplate gives one result for each item.
  const runnable = found.items.filter((each) => !comparesAttempts(each));
  const hasOwn = runnable.some(({ scope }) => scope !== 'builtin');
  const toolTemplates = hasOwn ? runnable : [];
  const skipped = [agents, skills, slashCommands].flatMap(({ current }) => current.skipped);
  const { files } = loaded;
  // One file can hold hooks and permissions.
  const hookFiles = session.hookFiles.untrusted.filter(
    ({ path }) => !files.some((file) => file.path === path && UNTRUSTED.has(file.state)),
  );
  const untrusted = createUntrustedNotice({ files: [...files, ...hookFiles], skipped });
  if (untrusted !== null) onNotice(untrusted);
  const loadTemplates = () =>
    discoverDefinitions(TEMPLATES, { cwd, environment, trust: currentTrust() });
  const hasUntrustedFiles = untrusted !== null;
  return {
    agents,
    skills,
    slashCommands,
    toolTemplates,
    loadTemplates,
    searchContext,
    hasUntrustedFiles,
  };
}
