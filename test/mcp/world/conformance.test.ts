import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { quoteForShell } from '../../../src/base/text.ts';
import { tempDirectory } from '../support.ts';
import { installPackages } from './install.ts';

const client = join(import.meta.dirname, 'conformance-client.ts');
const VERSIONS = ['0.1.16', '0.2.0-alpha.12'];
const installed = await installPackages(
  Object.fromEntries(
    VERSIONS.map((version) => [
      `conformance-${version}`,
      `npm:@modelcontextprotocol/conformance@${version}`,
    ]),
  ),
);

test.each(VERSIONS)(
  'the client passes the suites of the conformance tests %s except for the listed scenarios',
  (version) => {
    const directory = tempDirectory();
    const start = join(directory, 'client.sh');
    // The suite starts all clients at once, which takes longer than the client waits for a server. So three run at a time.
    writeFileSync(
      start,
      `#!/bin/sh\nexec flock "${directory}/lock$(($$ % 3))" ${quoteForShell(process.execPath)} ${quoteForShell(client)} "$@"\n`,
    );
    chmodSync(start, 0o755);
    const program = join(installed, `node_modules/conformance-${version}/dist/index.js`);
    const baseline = join(import.meta.dirname, `conformance-${version}.yml`);
    const args = ['--command', start, '--suite', 'all', '--timeout', '240000'];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, 'client', ...args, '--expected-failures', baseline],
      { cwd: directory, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    );
    const lines = stripVTControlCharacters(stdout + stderr).split('\n');
    const passed = lines
      .filter((line) => line.startsWith('✓ '))
      .map((line) => line.split(/[ :]/)[1]);
    expect({ status, end: lines.slice(-12) }).toEqual({ status: 0, end: expect.anything() });
    expect(passed).toEqual(
      expect.arrayContaining([
        'initialize',
        'tools_call',
        'elicitation-sep1034-client-defaults',
        'sse-retry',
      ]),
    );
  },
);
