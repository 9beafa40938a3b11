import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { UnchangedDirectories } from '../../../src/sys/files/unchanged-directories.ts';
import { tempDirectory } from '../temp.ts';

/** Changes of a directory `dir` in which are the file `f` and the directory `sub`. */
const CHANGES: Readonly<Record<string, (dir: string) => void>> = {
  'a created file': (dir) => fs.writeFileSync(join(dir, 'new'), ''),
  'a removed file': (dir) => fs.unlinkSync(join(dir, 'f')),
  'a created link': (dir) => fs.symlinkSync('/etc', join(dir, 'link')),
  'a hard link': (dir) => fs.linkSync(join(dir, 'f'), join(dir, 'other-name')),
  'a replaced file': (dir) => {
    fs.writeFileSync(join(dir, '../beside'), 'secret');
    fs.renameSync(join(dir, '../beside'), join(dir, 'f'));
  },
  'a rename there and back': (dir) => {
    fs.renameSync(dir, `${dir}-away`);
    fs.renameSync(`${dir}-away`, dir);
  },
  'a change with old times': (dir) => {
    fs.writeFileSync(join(dir, 'new'), '');
    fs.utimesSync(dir, 1, 1);
  },
};

test('a directory has changed when an entry of it has, or it was renamed', async () => {
  const root = tempDirectory();
  const names = [...Object.keys(CHANGES), 'no change', 'a changed content', 'a link'];
  for (const name of names) fs.mkdirSync(join(root, name, 'dir/sub'), { recursive: true });
  for (const name of names) fs.writeFileSync(join(root, name, 'dir/f'), '');
  fs.symlinkSync(join(root, 'no change/dir'), join(root, 'a link/dir/link'));
  await sleep(1_200);
  const since = Date.now();
  fs.writeFileSync(join(root, 'a changed content/dir/f'), 'changed');
  for (const [name, change] of Object.entries(CHANGES)) change(join(root, name, 'dir'));
  const answers = names.map((name) => {
    const unchanged = new UnchangedDirectories(since, join(root, name, 'dir'));
    return [
      name,
      unchanged.has(join(root, name, 'dir/sub')),
      unchanged.has(join(root, name, 'dir')),
    ];
  });
  const kept = new Set(['no change', 'a changed content', 'a link']);
  expect(answers).toEqual(names.map((name) => [name, kept.has(name), kept.has(name)]));
  const linked = new UnchangedDirectories(since, join(root, 'a link/dir'));
  expect(linked.has(join(root, 'a link/dir/link'))).toBe(false);
  expect(linked.has(join(root, 'a link/dir/missing'))).toBe(false);
  // A change shortly before the time may be one after it, since the times of files go in steps.
  const { ctimeMs } = fs.lstatSync(root);
  expect(new UnchangedDirectories(ctimeMs + 900, root).has(root)).toBe(false);
  expect(new UnchangedDirectories(ctimeMs + 1_100, root).has(root)).toBe(true);
  // Above the top nothing is checked; without one, all directories are.
  fs.renameSync(root, `${root}-away`);
  fs.renameSync(`${root}-away`, root);
  const dir = join(root, 'no change/dir');
  expect(new UnchangedDirectories(since, dir).has(dir)).toBe(true);
  expect(new UnchangedDirectories(since).has(dir)).toBe(false);
});
