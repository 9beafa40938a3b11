import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openModelLists } from '../../../src/api/setup/model-lists.ts';
import type { StoredList } from '../../../src/model/listing/stored-list.ts';
import { unknownModel } from '../../../src/protocol/listed-model.ts';

let directory: string;
beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'muster-lists-')));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function list(baseUrl: string, askedAt: number, ids: readonly string[] = ['a']): StoredList {
  const models = ids.map((id) => unknownModel(id));
  return { baseUrl, account: '01234567', askedAt, models, isCut: false };
}

function path(): string {
  return join(directory, 'model-lists.json');
}

it('keeps the lists of all providers in one file that only the user can read', () => {
  const store = openModelLists(directory);
  expect(store.all()).toEqual([]);
  const before = process.umask(0);
  try {
    store.save([list('http://a', 1000), list('http://b', 2000)]);
  } finally {
    process.umask(before);
  }
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(store.all()).toEqual([list('http://b', 2000), list('http://a', 1000)]);
  const inode = statSync(path()).ino;
  const other = { ...list('http://a', 3000), account: 'fedcba98' };
  store.save([list('http://a', 4000, ['new']), other]);
  expect(statSync(path()).ino).not.toBe(inode);
  expect(openModelLists(directory).all()).toEqual([
    list('http://a', 4000, ['new']),
    other,
    list('http://b', 2000),
  ]);
});

it.each([['{'], [''], ['[]'], ['{"version":2,"lists":[]}'], ['{"version":1,"lists":{}}']])(
  'takes damaged content for no list: %s',
  (text) => {
    const store = openModelLists(directory);
    writeFileSync(path(), text, { mode: 0o600 });
    expect(store.all()).toEqual([]);
    store.save([list('http://a', 1000)]);
    expect(store.all()).toEqual([list('http://a', 1000)]);
  },
);

it('drops the oldest lists when the file would become too large', () => {
  const store = openModelLists(directory);
  const lists = Array.from({ length: 101 }, (_, index) => list(`http://${index}`, 1000 + index));
  store.save(lists);
  expect(store.all().map(({ baseUrl }) => baseUrl)).toEqual(
    lists
      .slice(1)
      .map(({ baseUrl }) => baseUrl)
      .toReversed(),
  );
  const ids = Array.from({ length: 5000 }, (_, index) => `${index}-${'x'.repeat(190)}`);
  const large = Array.from({ length: 9 }, (_, index) =>
    list(`http://l${index}`, 9000 + index, ids),
  );
  store.save(large);
  expect(statSync(path()).size).toBeLessThan(8_100_000);
  expect(
    store
      .all()
      .map(({ baseUrl }) => baseUrl)
      .slice(0, 2),
  ).toEqual(['http://l8', 'http://l7']);
});

it('loses no list when two processes save theirs at the same time', async () => {
  const source = resolve(import.meta.dirname, '../../../src');
  const script = `
    import { openModelLists } from ${JSON.stringify(`${source}/api/setup/model-lists.ts`)};
    const [directory, name] = process.argv.slice(1);
    const store = openModelLists(directory);
    for (let count = 0; count < 15; count += 1) {
      const baseUrl = 'http://' + name + count;
      store.save([{ baseUrl, account: '01234567', askedAt: 1000, models: [], isCut: false }]);
      for (const each of store.all()) if (!each.baseUrl.startsWith('http://')) process.exit(3);
    }`;
  const run = async (name: string) => {
    const args = ['--input-type=module', '--eval', script, directory, name];
    const [code] = (await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close')) as [
      number,
    ];
    return code;
  };
  expect(await Promise.all([run('a'), run('b')])).toEqual([0, 0]);
  const names = ['a', 'b'].flatMap((name) =>
    Array.from({ length: 15 }, (_, index) => `http://${name}${index}`),
  );
  const saved = openModelLists(directory).all();
  expect(saved.map(({ baseUrl }) => baseUrl).toSorted()).toEqual(names.toSorted());
  expect(readFileSync(path(), 'utf8')).toMatch(/^\{"version":1,"lists":\[\n/);
});
