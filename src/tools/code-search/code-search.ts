import { CODE_SEARCH } from '../../protocol/tool-names.ts';
import { toAbsolutePath } from '../../sys/files/paths.ts';
import { DIRECTORY_ALIASES, defineBuiltinTool } from '../shared/define-tool.ts';

const MAX_LOCATIONS = 20;
const DEFAULT_LOCATIONS = 8;

/** Finds the lines of code that answer a question. The tool reads only files that Grep and Read would show. */
export const codeSearchTool = defineBuiltinTool({
  name: CODE_SEARCH,
  kind: 'read',
  replay: 'pure',
  description:
    'Find where something is in the code: ask in words or names, get the best places as path:line with the line, the best first. It matches words and their spellings, not meanings. Ignored, binary, secret and hard-linked files are left out.',
  input: {
    type: 'object',
    properties: {
      question: { type: 'string', minLength: 1, description: 'where is a retry delayed?' },
      path: { type: 'string', description: 'only in this directory' },
      limit: {
        type: 'integer',
        minimum: 1,
        clampTo: MAX_LOCATIONS,
        description: `places, default ${DEFAULT_LOCATIONS}`,
      },
    },
    required: ['question'],
  },
  aliases: { ...DIRECTORY_ALIASES, query: 'question', head_limit: 'limit', max_results: 'limit' },
  describe: (input, { cwd }) => ({
    reads: [toAbsolutePath(input.path ?? '.', cwd)],
    writes: [],
    commands: [],
    hosts: [],
  }),
  run: async ({ question, path = '.', limit = DEFAULT_LOCATIONS }, context) => {
    const { searchCode } = await import('./search-code.ts');
    return searchCode({ question, path, limit }, context);
  },
});
