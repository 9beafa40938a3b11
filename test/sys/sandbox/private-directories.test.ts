import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HAS_BUBBLEWRAP } from './support.ts';

const SOURCES = join(import.meta.dirname, '../../../src/sys/sandbox');

/** Runs a module under a umask, with a temporary directory of its own, and returns what it printed. */
function runUnder(umask: string, code: string) {
  const temp = mkdtempSync(join(tmpdir(), 'umask-'));
  onTestFinished(() => rmSync(temp, { recursive: true, force: true }));
  const script = `umask ${umask} && exec "$0" --input-type=module --eval "$1"`;
  const out = execFileSync('/bin/sh', ['-c', script, process.execPath, code], {
    env: { ...process.env, TMPDIR: temp },
    encoding: 'utf8',
  });
  return { temp, out: out.trim() };
}

test.each(['000', '022', '0277', '0777'])('directories are private under umask %s', (umask) => {
  const { out } = runUnder(
    umask,
    `import { makeUserOnlyDirectory, makeUserOnlyTempDirectory } from '${SOURCES}/private-directories.ts';
    const top = makeUserOnlyTempDirectory('a-');
    makeUserOnlyDirectory(top + '/b');
    console.log(top);`,
  );
  for (const path of [out, join(out, 'b')]) expect(statSync(path).mode & 0o777).toBe(0o700);
});

test.runIf(HAS_BUBBLEWRAP).each(['022', '0277', '0777'])(
  'the sandbox is on under umask %s, and its test leaves nothing behind',
  (umask) => {
    const { temp, out } = runUnder(
      umask,
      `import { openSandbox } from '${SOURCES}/open-sandbox.ts';
      const sandbox = openSandbox({
        kind: 'bwrap',
        platform: process.platform,
        path: '/usr/bin:/bin',
        roots: [],
        records: null,
        hostPaths: { homes: ['/var/tmp'], stateDirectories: [], runtimeDirectories: [], sockets: [] },
      });
      console.log(JSON.stringify(await sandbox.state()));`,
    );
    expect(JSON.parse(out)).toEqual({ on: true, kind: 'bwrap' });
    expect(readdirSync(temp)).toEqual([]);
  },
);
