import { AGENTS, SKILLS, TEMPLATES } from '../../agents/kinds.ts';
import { discoverDefinitions } from '../../agents/loader/discover.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { systemClock } from '../../base/clock.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { trustFile } from '../../trust/trust-store.ts';
import { untrustedNotice } from '../../trust/untrusted-notice.ts';
import type { SessionConfig } from './session-config.ts';
import type { DefinitionKind } from '../../agents/loader/kind.ts';
import {
  LiveDefinitions,
  type LiveDefinitionsOptions,
} from '../../agents/loader/live-definitions.ts';
import { errorMessage } from '../../base/errors.ts';

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
    context: searchContext,
  };
  const agents = await openDefinitions(AGENTS, { ...search, session: sessionAgents }, onNotice);
  const skills = await openDefinitions(SKILLS, search, onNotice);
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

/** Loads the definitions of a kind, and reports each reload as a notice. */
function openDefinitions<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  options: Omit<LiveDefinitionsOptions<T>, 'onReload' | 'onError'>,
  onNotice: (line: string) => void,
): Promise<LiveDefinitions<T>> {
  return LiveDefinitions.open(kind, {
    ...options,
    onReload: ({ skipped }) => {
      onNotice(`${kind.name} files have changed and were read again`);
      const untrusted = untrustedNotice({ files: [], skipped });
      if (untrusted !== null) onNotice(untrusted);
    },
    onError: (thrown) =>
      onNotice(`${kind.name} files could not be read again: ${errorMessage(thrown)}`),
  });
}
