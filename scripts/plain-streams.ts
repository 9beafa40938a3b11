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

/**
 * Gives the provider packages, and what brings them their bytes, our own streams for Node's
 * (docs/decisions/0005).
 */
export function plainStreamsPlugin(): Plugin {
  return {
    name: 'plain-streams',
    transform: {
      filter: {
        id: /(@ai-sdk\/(anthropic|google|openai|openai-compatible|provider-utils)\/dist\/index\.m?js|eventsource-parser\/dist\/stream\.m?js|src\/sys\/http-direct\.ts)$/,
      },
      handler(code, id) {
        if (id.includes('provider-utils') && !EXPECTED.test(code)) {
          throw new Error(`@ai-sdk/provider-utils has changed: no \`${EXPECTED.source}\` in it`);
        }
        const imports = Object.entries(MODULE_OF)
          .filter(([name]) => new RegExp(`\\b(new|extends) ${name}\\b`).test(code))
          .map(([name, module]) => `import { Plain${name} as ${name} } from ${module};\n`);
        return imports.length === 0 ? null : { code: imports.join('') + code };
      },
    },
  };
}
