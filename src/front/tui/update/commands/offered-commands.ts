import { collapseWhitespace, truncate } from '../../../../base/text.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import type { LibraryInfo } from '../../model/ui-library.ts';
import type { CommandHelp } from './pages.ts';

/** The maximum length of a description in a list, in code points. */
const MAX_HELP_LENGTH = 120;
/** The maximum length of the arguments in a list, in code points. */
const MAX_USAGE_LENGTH = 40;

/** Lists the slash commands from files and the skills, each with where it comes from. */
export function offeredCommands({
  slashCommands,
}: Pick<LibraryInfo, 'slashCommands'>): readonly CommandHelp[] {
  return slashCommands.map(({ name, argumentHint, description, source }) => ({
    name,
    ...(argumentHint === undefined
      ? {}
      : { argument: truncate(sanitizeLine(argumentHint), MAX_USAGE_LENGTH) }),
    help: `${truncate(collapseWhitespace(sanitizeLine(description)), MAX_HELP_LENGTH)} (${source})`.trimStart(),
  }));
}

/**
 * Tells whether a typed name runs a slash command from a file or a skill. A name such as `project:review` also runs the one
 * that another definition of the same name hides.
 */
export function isOffered(
  typed: string,
  { slashCommands }: Pick<LibraryInfo, 'slashCommands'>,
): boolean {
  const name = typed.toLowerCase();
  const unqualified = name.slice(name.indexOf(':') + 1);
  return slashCommands.some((each) => {
    const offered = each.name.toLowerCase();
    // Folders may be left out, if that is not ambiguous.
    return [name, unqualified].includes(offered) || offered.endsWith(`:${name}`);
  });
}
