import type { AnyTool } from '../../protocol/tool.ts';
import { defineTool } from '../shared/define-tool.ts';

/** Its name: how far it has come is told to a person, a first answer may take seconds. */
export const PLACE_SEARCH = 'FindPlaces';

/**
 * The search of the offline engine: no other model is offered it. It looks into what Read may open and
 * nothing else. What it does is loaded with the first call. `indexDirectory` is where it keeps what it
 * knows of files, absolute; null: nowhere.
 */
export function findPlacesTool(indexDirectory: string | null): AnyTool {
  return defineTool({
    name: PLACE_SEARCH,
    kind: 'read',
    replay: 'pure',
    onlyFor: 'offline',
    description: 'Places in the files of the working directory that answer a question, best first.',
    input: {
      type: 'object',
      properties: {
        question: { type: 'string', minLength: 1 },
        kinds: { type: 'array', items: { type: 'string' } },
        paths: { type: 'array', items: { type: 'string' } },
      },
      required: ['question'],
    },
    describe: (_, { cwd }) => ({ reads: [cwd], writes: [], commands: [], hosts: [] }),
    run: async (input, context) =>
      (await import('./run.ts')).findPlaces(input, context, indexDirectory),
  });
}
