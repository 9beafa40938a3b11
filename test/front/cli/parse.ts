import { CLI_COMMANDS } from '../../../src/front/cli/commands.ts';
import { parseCommandLine } from '../../../src/front/cli/parse.ts';

export interface ParsedLine {
  readonly words: string;
  readonly options: unknown;
}

/** Parses a command line without the name of the program. */
export async function parse(argv: readonly string[]): Promise<ParsedLine> {
  const parsed = await parseCommandLine(argv, () => Promise.resolve(CLI_COMMANDS));
  return parsed === 'version'
    ? { words: '--version', options: {} }
    : { words: parsed.command.words, options: parsed.options };
}
