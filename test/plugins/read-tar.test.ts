import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PluginFileCollector, type PluginFile } from '../../src/plugins/plugin-files.ts';
import { readTar, unzipArchive } from '../../src/plugins/read-tar.ts';
import { Machine } from './support.ts';

interface Entry {
  readonly path: string;
  readonly text?: string;
  readonly type?: string;
  readonly mode?: string;
  readonly link?: string;
}

/** Writes one entry of a tar archive in the ustar format. */
function toBlocks({ path, text = '', type = '0', mode = '0000644', link = '' }: Entry): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0, 100);
  header.write(`${mode}\0`, 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(link, 157);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const content = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  content.write(text);
  return Buffer.concat([header, content]);
}

function toArchive(...entries: readonly Entry[]): Buffer {
  return Buffer.concat([...entries.map(toBlocks), Buffer.alloc(1024)]);
}

function unpack(archive: Buffer): readonly PluginFile[] {
  const files = new PluginFileCollector('kit.tgz');
  readTar(archive, files);
  return files.list();
}

const PAX = (path: string): string => {
  const record = ` path=${path}\n`;
  let length = record.length;
  while (`${length}${record}`.length !== length) length += 1;
  return `${length}${record}`;
};

describe('an archive', () => {
  it('has the files below its top directory', () => {
    const long = `${'d'.repeat(90)}/${'f'.repeat(90)}`;
    const archive = toArchive(
      { path: 'package', type: '5' },
      { path: 'package/a.md', text: 'A' },
      { path: 'package/run.sh', text: 'B', mode: '0000755' },
      { path: 'x', type: 'x', text: PAX(`package/${long}`) },
      { path: 'package/short', text: 'C' },
      { path: 'L', type: 'L', text: `package/${long}2\0` },
      { path: 'package/short', text: 'D' },
      { path: 'g', type: 'g', text: PAX('ignored') },
      { path: 'package/last', text: 'E' },
    );
    expect(
      unpack(archive).map(({ path, bytes, isExecutable }) => [
        path,
        bytes.toString(),
        isExecutable,
      ]),
    ).toEqual([
      ['a.md', 'A', false],
      [long, 'C', false],
      [`${long}2`, 'D', false],
      ['last', 'E', false],
      ['run.sh', 'B', true],
    ]);
  });

  it.each<readonly [string, Entry]>([
    ['package/x is a link or a device', { path: 'package/x', type: '2', link: '/etc/passwd' }],
    ['package/x is a link or a device', { path: 'package/x', type: '1', link: 'package/y' }],
    ['package/x is a link or a device', { path: 'package/x', type: '3' }],
    ['package/x is a link or a device', { path: 'package/x', type: '6' }],
    ['leads out of its directory', { path: 'package/../../x' }],
    ['leads out of its directory', { path: '../x' }],
    ['/etc/x is outside of the top directory', { path: '/etc/x' }],
    ['x is outside of the top directory', { path: 'x' }],
    ['unprintable characters', { path: 'package/a\u001Bb' }],
  ])('is refused because %s', (reason, entry) => {
    expect(() => unpack(toArchive(entry))).toThrow(reason);
  });

  it('is refused if a long name leads out of its directory', () => {
    const name = { path: 'x', type: 'x', text: PAX('package/../../x') };
    expect(() => unpack(toArchive(name, { path: 'package/a' }))).toThrow('leads out');
  });

  it.each<readonly [string, (archive: Buffer) => Buffer, string]>([
    [
      'cut off in a file',
      (archive) => archive.subarray(0, 700),
      'the archive is damaged or was cut off',
    ],
    ['without an end', (archive) => archive.subarray(0, -1024), 'the archive was cut off'],
    ['with a changed byte', (archive) => archive.fill('z', 0, 1), 'the archive is damaged'],
    ['with a negative size', (archive) => archive.fill('-', 124, 125), 'the archive is damaged'],
    ['empty', () => Buffer.alloc(0), 'the archive was cut off'],
  ])('is refused if it is %s', (_, change, reason) => {
    const archive = toArchive({ path: 'package/a', text: 'x'.repeat(600) });
    expect(() => unpack(change(archive))).toThrow(reason);
  });
});

describe('a gzipped archive', () => {
  it('is refused if it is none', async () => {
    const files = new PluginFileCollector('kit.tgz');
    await expect(unzipArchive(Buffer.from('no'), files)).rejects.toThrow(
      'kit.tgz cannot be used as a plugin: it is not a gzipped archive: ',
    );
  });

  it('is refused if it is too large when it is unpacked', async () => {
    const files = new PluginFileCollector('kit.tgz');
    const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024));
    await expect(unzipArchive(bomb, files)).rejects.toThrow(
      'it is larger than 60 MB when it is unpacked',
    );
  });

  it('of npm and of tar have the same files', async () => {
    using machine = new Machine();
    const directory = machine.write('package', {
      'package.json': { name: 'kit', version: '1.0.0' },
      [`${'deep/'.repeat(30)}${'x'.repeat(80)}.md`]: 'deep',
      'ü.md': 'ü',
    });
    spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', machine.root], {
      cwd: directory,
    });
    spawnSync('tar', ['-czf', join(machine.root, 'kit.tgz'), '-C', machine.root, 'package']);
    const [ofNpm = [], ofTar = []] = await Promise.all(
      ['kit-1.0.0.tgz', 'kit.tgz'].map(async (name) => {
        const files = new PluginFileCollector(name);
        readTar(await unzipArchive(readFileSync(join(machine.root, name)), files), files);
        return files.list().map(({ path, bytes }) => [path, bytes.toString()]);
      }),
    );
    expect(ofNpm).toHaveLength(3);
    expect(ofNpm).toEqual(ofTar);
  });
});
