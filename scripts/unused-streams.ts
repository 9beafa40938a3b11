import type { Plugin } from 'rolldown';

const MODULE = '\0unused-streams';
/** To make a subclass of `TransformStream`, as the real one is, loads Node's web streams: 2 ms of each start. */
const CODE = `export class EventSourceParserStream {
  constructor() {
    throw new Error('Answers are read by Muster, not by the provider packages (scripts/unused-streams.ts)');
  }
}`;

const FRAMES_MODULE = '\0unused-frames';
/** The decoder of AWS's frames, for the package of Bedrock. src/model/adapters/bedrock/event-frames.ts reads them. */
const FRAMES_CODE = `const fail = () => {
  throw new Error('Answers are read by Muster, not by the provider packages (scripts/unused-streams.ts)');
};
export class EventStreamCodec {
  constructor() {
    fail();
  }
}
export const toUtf8 = fail, fromUtf8 = fail;`;

/** Leaves out of the bundle the decoder of AWS's frames, which the package of Bedrock would use to read an answer. */
export function unusedFramesPlugin(): Plugin {
  return {
    name: 'unused-frames',
    resolveId: {
      filter: { id: /^@smithy\/(?:eventstream-codec|util-utf8)$/ },
      handler: (_, importer) =>
        importer?.includes('amazon-bedrock') === true
          ? { id: FRAMES_MODULE, moduleSideEffects: false }
          : null,
    },
    load: {
      filter: { id: new RegExp(`^${FRAMES_MODULE}$`) },
      handler: () => ({ code: FRAMES_CODE, moduleType: 'js' }),
    },
  };
}

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
