import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PluginCopies } from '../../src/plugins/plugin-copies.ts';
import { hashPluginFiles } from '../../src/plugins/plugin-files.ts';
import { Machine, toFiles } from './support.ts';

const FILES = toFiles({ 'a/b.md': 'B', 'run.sh': '#!/bin/sh' });
const RECORD = { name: 'kit', marketplace: 'direct', hash: hashPluginFiles(FILES) };
const SCRIPT = fileURLToPath(new URL('write-copy.ts', import.meta.url));
const run = promisify(execFile);

describe('the copy of a plugin', () => {
  it('has exactly its files, which are read-only', () => {
    using machine = new Machine();
    const copies = new PluginCopies(machine.data);
    expect(copies.read(RECORD)).toBe('its files are missing');
    copies.write(RECORD, FILES);
    const root = copies.rootOf(RECORD);
    expect(root).toBe(join(machine.data, 'plugins/kit@direct', RECORD.hash.slice(0, 16), 'kit'));
    const mode = (path: string) => (statSync(join(root, path)).mode & 0o777).toString(8);
    expect([mode('a'), mode('a/b.md'), mode('run.sh')]).toEqual(['700', '400', '500']);
    expect(copies.read(RECORD)).toEqual(FILES);
  });

  it.each<readonly [string, (root: string) => void]>([
    [
      'one file has changed',
      (root) => {
        chmodSync(join(root, 'a/b.md'), 0o600);
        writeFileSync(join(root, 'a/b.md'), 'C');
      },
    ],
    ['a file was added', (root) => writeFileSync(join(root, 'c.md'), 'C')],
    ['a link was added', (root) => symlinkSync('a/b.md', join(root, 'c.md'))],
    ['a file can be executed now', (root) => chmodSync(join(root, 'a/b.md'), 0o500)],
  ])('is not used if %s, and is written again', (_, change) => {
    using machine = new Machine();
    const copies = new PluginCopies(machine.data);
    copies.write(RECORD, FILES);
    change(copies.rootOf(RECORD));
    expect(copies.read(RECORD)).toBe('its files have changed since then');
    copies.write(RECORD, FILES);
    expect(copies.read(RECORD)).toEqual(FILES);
  });

  it('is not there if its process was killed before it was complete', () => {
    using machine = new Machine();
    const killed = spawnSync(process.execPath, [SCRIPT, machine.data, 'x', 'kill']);
    expect(killed.signal).toBe('SIGKILL');
    const directory = join(machine.data, 'plugins/kit@direct');
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/^\.new-\d+-/)]);
    const next = spawnSync(process.execPath, [SCRIPT, machine.data, 'x'], { encoding: 'utf8' });
    expect([next.status, readdirSync(directory)]).toEqual([0, [next.stdout.slice(0, 16)]]);
  });

  it('is complete after several processes have written it at once', async () => {
    using machine = new Machine();
    const texts = ['x', 'x', 'y', 'x', 'y'];
    const runs = await Promise.all(
      texts.map((text) => run(process.execPath, [SCRIPT, machine.data, text])),
    );
    const hashes = [...new Set(runs.map(({ stdout }) => stdout.trim()))].toSorted();
    const directory = join(machine.data, 'plugins/kit@direct');
    expect(readdirSync(directory).toSorted()).toEqual(hashes.map((hash) => hash.slice(0, 16)));
    const copies = new PluginCopies(machine.data);
    for (const hash of hashes) {
      expect(typeof copies.read({ ...RECORD, hash })).toBe('object');
      expect(readFileSync(join(copies.rootOf({ ...RECORD, hash }), 'a/0'), 'utf8')).toMatch(
        /^[xy]$/,
      );
    }
  });

  it('goes with the copies that are not kept', () => {
    using machine = new Machine();
    const copies = new PluginCopies(machine.data);
    const other = toFiles({ 'a.md': 'A' });
    const otherRecord = { ...RECORD, hash: hashPluginFiles(other) };
    copies.write(RECORD, FILES);
    copies.write(otherRecord, other);
    copies.removeOthers(RECORD, [otherRecord.hash]);
    expect([copies.read(RECORD), copies.read(otherRecord)]).toEqual([
      'its files are missing',
      other,
    ]);
    copies.removeOthers(RECORD, []);
    expect(readdirSync(copies.directory)).toEqual([]);
  });
});
