import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const sys = (name: string): string => JSON.stringify(join(import.meta.dirname, '../src/sys', name));
const MODULE_OF = {
  ReadableStream: sys('plain-streams.ts'),
  TransformStream: sys('plain-transforms.ts'),
  TextDecoderStream: sys('plain-transforms.ts'),
};
/** The way that every streamed answer takes. It must be found, or the packages have changed. */
const EXPECTED =
  /\.pipeThrough\(new TextDecoderStream\(\)\)\.pipeThrough\(new EventSourceParserStream\S*\(\)\)\.pipeThrough\(new TransformStream\(/;

/** What each chunk of an answer waits in, only for its failure to be told in the package's words. */
const WRAPPED =
  'function wrapResponseBodyStream({ stream, url, requestBodyValues, statusCode, responseHeaders }) {\n';
const FAILING_AS = `\tif (stream instanceof ReadableStream) return stream.failingAs((error) => isAbortError(error) ? error : handleFetchError({
\t\terror: new APICallError({
\t\t\tmessage: "Failed to process successful response",
\t\t\tcause: error,
\t\t\tstatusCode,
\t\t\turl,
\t\t\tresponseHeaders,
\t\t\trequestBodyValues
\t\t}),
\t\turl,
\t\trequestBodyValues
\t}));
`;

/**
 * Gives the provider packages, and what brings them their bytes, our own streams for Node's
 * (docs/decisions/0005).
 */
export function plainStreamsPlugin(): Plugin {
  return {
    name: 'plain-streams',
    transform: {
      filter: {
        id: /(@ai-sdk\/(anthropic|google|openai|openai-compatible|provider-utils)\/dist\/index\.m?js|eventsource-parser\/dist\/stream\.m?js|src\/sys\/http-body\.ts)$/,
      },
      handler(code, id) {
        const isShared = id.includes('provider-utils');
        if (isShared && !EXPECTED.test(code)) throw changed(EXPECTED.source);
        if (isShared && !code.includes(WRAPPED)) throw changed(WRAPPED);
        const ours = isShared ? code.replace(WRAPPED, WRAPPED + FAILING_AS) : code;
        const imports = Object.entries(MODULE_OF)
          .filter(([name]) => new RegExp(`\\b(new|extends) ${name}\\b`).test(code))
          .map(([name, module]) => `import { Plain${name} as ${name} } from ${module};\n`);
        return imports.length === 0 ? null : { code: imports.join('') + ours };
      },
    },
  };
}

function changed(missing: string): Error {
  return new Error(`@ai-sdk/provider-utils has changed: no \`${missing}\` in it`);
}
