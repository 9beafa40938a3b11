import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { startHttpServer } from '../../e2e/mcp-http.ts';
import { openWorld } from '../../e2e/world.ts';
import { tempDirectory } from '../support.ts';
import { installPackages } from './install.ts';
import { startTokenProxy } from './token-proxy.ts';

const VERSIONS = ['0.1.16', '0.2.0-alpha.12'];
/** The checks that fail in scenarios of which most checks pass, by scenario. All of them need tools for tests, or prompts. */
const FAILED_CHECKS = {
  'server-stateless': [
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
  caching: ['sep-2549-prompts-list-caching-hints'],
  'tasks-capability-negotiation': [
    'sep-2663-server-rejects-undeclared-client',
    'tasks-per-request-meta-opt-in',
  ],
};
const installed = await installPackages(
  Object.fromEntries(
    VERSIONS.map((version) => [
      `conformance-${version}`,
      `npm:@modelcontextprotocol/conformance@${version}`,
    ]),
  ),
);

/** Runs a suite of the conformance tests, without blocking the proxy in this process. */
async function runSuite(args: readonly string[]): Promise<{ status: number | null; out: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, out: stripVTControlCharacters(out) };
}

/** Lists the ids of the failed checks of a scenario. */
function listFailedChecks(results: string, scenario: string): readonly string[] {
  return globSync(join(results, `server-${scenario}-*/checks.json`))
    .filter(
      (file) => /^server-.*?-\d{4}-/.exec(basename(dirname(file)))?.[0].slice(7, -6) === scenario,
    )
    .flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as { id: string; status: string }[])
    .filter(({ status }) => status === 'FAILURE')
    .map(({ id }) => id);
}

test.each(VERSIONS)(
  'the server passes the suites of the conformance tests %s except for the listed scenarios',
  async (version) => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const { url, token } = await startHttpServer(world);
    const results = tempDirectory();
    const program = join(installed, `node_modules/conformance-${version}/dist/index.js`);
    const target = ['--url', await startTokenProxy(url, token ?? ''), '--suite', 'all'];
    const baseline = join(import.meta.dirname, `conformance-${version}.yml`);
    const files = ['--expected-failures', baseline, '--output-dir', results];
    const { status, out } = await runSuite([program, 'server', ...target, ...files]);
    const lines = out.split('\n');
    const passed = lines
      .filter((line) => line.startsWith('✓ '))
      .map((line) => line.split(/[ :]/)[1]);
    expect({ status, end: lines.slice(-12) }).toEqual({ status: 0, end: expect.anything() });
    expect(passed).toEqual(
      expect.arrayContaining([
        'server-initialize',
        'ping',
        'tools-list',
        'resources-list',
        'server-sse-multiple-streams',
        'dns-rebinding-protection',
      ]),
    );
    const isNewest = version === VERSIONS.at(-1);
    const failed = Object.fromEntries(
      Object.keys(FAILED_CHECKS).map((scenario) => [scenario, listFailedChecks(results, scenario)]),
    );
    const none = { 'server-stateless': [], caching: [], 'tasks-capability-negotiation': [] };
    expect(failed).toEqual(isNewest ? FAILED_CHECKS : none);
  },
);
