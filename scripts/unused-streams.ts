import type { Plugin } from 'rolldown';

const MODULE = '\0unused-streams';
/** To make a subclass of `TransformStream`, as the real one is, loads Node's web streams: 2 ms of each start. */
const CODE = `export class EventSourceParserStream {
  constructor() {
    throw new Error('Answers are read by Muster, not by the provider packages (scripts/unused-streams.ts)');
  }
}`;

/**
 * Leaves out of the bundle the stream with which the provider packages would read the events of an answer:
 * Muster reads answers itself (docs/decisions/0019).
 */
export function unusedStreamsPlugin(): Plugin {
  return {
    name: 'unused-streams',
    resolveId: {
      filter: { id: /^eventsource-parser\/stream$/ },
      // The client of MCP reads its streams with it, and is loaded only for servers that are reached by HTTP.
      handler: (_, importer) =>
        importer?.includes('@modelcontextprotocol') === true
          ? null
          : { id: MODULE, moduleSideEffects: false },
    },
    load: {
      filter: { id: new RegExp(`^${MODULE}$`) },
      handler: () => ({ code: CODE, moduleType: 'js' }),
    },
  };
}
