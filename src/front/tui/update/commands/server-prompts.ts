import { collapseWhitespace, truncate } from '../../../../base/text.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import type { LibraryInfo } from '../../model/ui-library.ts';
import type { CommandHelp } from './pages.ts';

/** The maximum length of a description in a list, in code points. */
const MAX_HELP_LENGTH = 120;

/** The maximum length of the arguments in a list, in code points. */
const MAX_USAGE_LENGTH = 40;

/** Lists the recorded prompts of the MCP servers as commands: `/server:prompt ARGUMENTS`. */
export function promptCommands({
  serverContent,
}: Pick<LibraryInfo, 'serverContent'>): readonly CommandHelp[] {
  const servers = serverContent?.servers ?? [];
  return servers.flatMap(({ name: server, prompts }) =>
    prompts.map(({ name, usage, description = '' }) => ({
      name: `${server}:${name}`,
      ...(usage === '' ? {} : { argument: truncate(usage, MAX_USAGE_LENGTH) }),
      help: describePrompt(description, server),
    })),
  );
}

/** Describes a prompt for a list: the server's text is marked as such. */
function describePrompt(description: string, server: string): string {
  const text = truncate(collapseWhitespace(sanitizeLine(description)), MAX_HELP_LENGTH);
  return text === '' ? `prompt of the server ${server}` : `${server} says: ${text}`;
}
