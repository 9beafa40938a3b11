import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeFileInRoots, type WrittenFile } from '../../../src/sys/files/write-file.ts';
import { asNormalUser } from '../normal-user.ts';
import { tempDirectory } from '../temp.ts';

const OLD = new Date(Date.now() - 2 * 60 * 60 * 1000);

/** Replaces a file by its own path, from what it is now. */
function replace(path: string, root: string, content = 'new'): Promise<WrittenFile> {
  const before = fs.statSync(path, { bigint: true });
  return writeFileInRoots(path, { roots: [root] }, Buffer.from(content), before);
}

test('permissions are kept even if the umask would remove them, except for special bits', async () => {
  const root = tempDirectory();
  const path = join(root, 'tool');
  fs.writeFileSync(path, 'old');
  fs.chmodSync(path, 0o6777);
  expect(await replace(path, root)).toEqual({ real: path, lost: ['special_bits'] });
  expect(fs.statSync(path).mode & 0o7777).toBe(0o777);
  fs.chmodSync(path, 0o600);
  expect(await replace(path, root, 'newer')).toEqual({ real: path, lost: [] });
  expect(fs.statSync(path).mode & 0o7777).toBe(0o600);
  expect(fs.readFileSync(path, 'utf8')).toBe('newer');
});

test('other names of the file keep the old content, which is reported', async () => {
  const root = tempDirectory();
  fs.writeFileSync(join(root, 'a'), 'old');
  fs.linkSync(join(root, 'a'), join(root, 'b'));
  expect(await replace(join(root, 'a'), root)).toMatchObject({ lost: ['other_names'] });
  expect(fs.readFileSync(join(root, 'a'), 'utf8')).toBe('new');
  expect(fs.readFileSync(join(root, 'b'), 'utf8')).toBe('old');
});

test.runIf(process.getuid?.() === 0)('the owner is kept if the system allows it', async () => {
  const root = tempDirectory();
  fs.chmodSync(root, 0o777);
  const path = join(root, 'theirs');
  fs.writeFileSync(path, 'old');
  fs.chownSync(path, 12_345, 12_345);
  expect(await replace(path, root)).toEqual({ real: path, lost: [] });
  expect(fs.statSync(path)).toMatchObject({ uid: 12_345, gid: 12_345 });
  fs.chmodSync(path, 0o666);
  expect(await asNormalUser(() => replace(path, root))).toEqual({ real: path, lost: ['owner'] });
  expect(fs.statSync(path)).toMatchObject({ uid: 65_534, mode: 0o100666 });
});

test('a file that may not be written is not replaced by way of its directory', async () => {
  const root = tempDirectory();
  fs.chmodSync(root, 0o777);
  const path = join(root, 'theirs');
  fs.writeFileSync(path, 'old');
  fs.chmodSync(path, process.getuid?.() === 0 ? 0o644 : 0o444);
  await expect(asNormalUser(() => replace(path, root))).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
  });
  expect(fs.readFileSync(path, 'utf8')).toBe('old');
  expect(fs.readdirSync(root)).toEqual(['theirs']);
});

test('a write that fails leaves nothing behind', async () => {
  const root = tempDirectory();
  fs.chmodSync(root, 0o777);
  fs.mkdirSync(join(root, 'locked'), { mode: 0o555 });
  const path = join(root, 'locked/new');
  const write = () => writeFileInRoots(path, { roots: [root] }, Buffer.from('x'), 'nothing');
  await expect(asNormalUser(write)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  fs.mkdirSync(join(root, 'file'));
  await expect(
    writeFileInRoots(join(root, 'file'), { roots: [root] }, Buffer.from('x'), 'nothing'),
  ).rejects.toMatchObject({ code: 'INVALID_PARAM' });
  expect(fs.readdirSync(root, { recursive: true }).toSorted()).toEqual(['file', 'locked']);
});

test('the leftovers of a killed writer are removed by a later write, and nothing else is', async () => {
  const root = tempDirectory();
  const names = [
    '.muster-abcdefgh.tmp',
    '.muster-abcdefgi.tmp',
    '.muster-mine.txt',
    'x.muster-abcdefgh.tmp',
  ];
  for (const name of names) {
    fs.writeFileSync(join(root, name), '');
    if (name !== '.muster-abcdefgi.tmp') fs.utimesSync(join(root, name), OLD, OLD);
  }
  fs.mkdirSync(join(root, '.muster-abcdefgj.tmp'));
  fs.utimesSync(join(root, '.muster-abcdefgj.tmp'), OLD, OLD);
  await writeFileInRoots(join(root, 'a'), { roots: [root] }, Buffer.from('x'), 'nothing');
  expect(fs.readdirSync(root).toSorted()).toEqual([
    '.muster-abcdefgi.tmp',
    '.muster-abcdefgj.tmp',
    '.muster-mine.txt',
    'a',
    'x.muster-abcdefgh.tmp',
  ]);
});

test('a writer that is killed leaves the old file complete', async () => {
  const root = tempDirectory();
  const path = join(root, 'a');
  fs.writeFileSync(path, 'old');
  const source = join(import.meta.dirname, '../../../src/sys/files/write-file.ts');
  const script = `
    import { statSync } from 'node:fs';
    import { writeFileInRoots } from ${JSON.stringify(source)};
    const [root, path] = process.argv.slice(1);
    for (;;) {
      process.stdout.write('.');
      const before = statSync(path, { bigint: true });
      await writeFileInRoots(path, { roots: [root] }, Buffer.alloc(5_000_000, 'n'), before);
    }`;
  for (let round = 0; round < 3; round += 1) {
    fs.writeFileSync(path, 'old');
    const args = ['--input-type=module', '-e', script, root, path];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    await once(child.stdout, 'data');
    await sleep(round * 3);
    child.kill('SIGKILL');
    await closed;
    const text = fs.readFileSync(path, 'utf8');
    expect([3, 5_000_000]).toContain(text.length);
    expect(new Set(text).size).toBe(text === 'old' ? 3 : 1);
  }
  const left = fs.readdirSync(root).filter((name) => name !== 'a');
  for (const name of left) fs.utimesSync(join(root, name), OLD, OLD);
  expect(left.every((name) => /^\.muster-[a-z0-9]+\.tmp$/.test(name))).toBe(true);
  await replace(path, root);
  expect(fs.readdirSync(root)).toEqual(['a']);
});
