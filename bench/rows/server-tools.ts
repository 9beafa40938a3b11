import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byteLength } from '../../src/base/text.ts';
import { estimateTokens } from '../../src/base/token-estimate.ts';
import { Fixture } from '../harness/fixture.ts';
import type { Measurement } from '../harness/measurement.ts';
import { exchangesOf, startModelServer } from '../harness/model-server.ts';
import { programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const SERVERS = [1, 3, 10];
/** More bytes than all tools have, so that requests list them. */
const LISTS_ALL = 100_000_000;

/** The size of a first request with MCP servers of 30 tools each: with all tools, and with tools that are searched for. */
export const serverTools: Row = {
  name: 'server-tools',
  async measure({ bin }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const measureRequest = async (home: string, serverToolsBytes: number) => {
      const directory = join(home, '.config', 'muster');
      mkdirSync(directory, { recursive: true });
      const config = `[output]\nserver_tools_bytes = ${serverToolsBytes}\n`;
      writeFileSync(join(directory, 'config.toml'), config);
      await using server = await startModelServer(fixture, [{ answer: { text: 'done' } }]);
      const env = fixture.environment(home, server.env('anthropic'));
      const run = await runProgram([bin, '-p', 'Say done.'], { cwd: fixture.workspace, env });
      const [first] = exchangesOf(run, await server.finish());
      return { bytes: byteLength(first.rawBody), tokens: estimateTokens(first.rawBody) };
    };
    const without = await measureRequest(fixture.newHome(), 0);
    const measurements: Measurement[] = [];
    for (const count of SERVERS) {
      const home = fixture.newHome();
      writeServers(home, count);
      // oxlint-disable-next-line no-await-in-loop -- one run at a time
      const all = await measureRequest(home, LISTS_ALL);
      // oxlint-disable-next-line no-await-in-loop -- one run at a time
      const searched = await measureRequest(home, 0);
      measurements.push({
        title: `added to the first request by ${count} × 30 MCP tools`,
        unit: 'bytes',
        samples: [searched.bytes - without.bytes],
        reference: { title: 'all tools in the request', samples: [all.bytes - without.bytes] },
        bound: { kind: 'max', max: 3_000, goal: 2_500 },
        notes: [
          `about ${searched.tokens - without.tokens} tokens instead of ${all.tokens - without.tokens}`,
        ],
      });
    }
    return measurements;
  },
};

function writeServers(home: string, count: number): void {
  const directory = join(home, '.config', 'muster');
  mkdirSync(directory, { recursive: true });
  const program = programPath('tool-server.mjs');
  const mcpServers = Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `service${index}`;
      return [name, { command: process.execPath, args: [program, name] }];
    }),
  );
  writeFileSync(join(directory, 'mcp.json'), JSON.stringify({ mcpServers }));
}
