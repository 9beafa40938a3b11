import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as after from '../src/index.ts';
import * as before from './before/index.ts';

/** A sequence of numbers below n that is always the same. */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const SMALL = ['a', 'ab', 'abc', 'b', "b'c", "'b''c'", 'ba', 'c1', '1', 'constructor', '__proto__', 'toString', 'ABC', 'ä', 'ba*', 'a*', 'İ'];
const IDS = ['d1', 'd2', 'd10', 'D', '__proto__', 'constructor', ''];

test('a first look at the speed', () => {
  const { user } = process.cpuUsage();
  const documents = new after.Documents();
  for (let i = 0; i < 1000; i++) documents.add(`d${i}`, `one two three four five word${i}`);
  for (let i = 0; i < 100; i++) {
    after.search(documents, `one word${i}`, 10);
    if (process.cpuUsage().user - user < 3e6) continue;
    process.stderr.write('this takes too long\n');
    process.exit(1);
  }
});

test('the same results as before', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const next = numbers(seed);
    const pick = (list: string[]) => list[next(list.length)] ?? '';
    const text = () => Array.from({ length: next(9) }, () => pick(SMALL)).join(pick([' ', ', ', "'", '-', '* ', '\n\t']));
    const [a, b] = [new after.Documents(), new before.Documents()];
    for (let step = 0; step < 40; step++) {
      const [id, content, query, limit] = [pick(IDS), text(), text(), next(5)];
      if (next(4) === 0) assert.equal(a.remove(id), b.remove(id));
      else for (const each of [a, b]) each.add(id, content);
      assert.deepEqual(after.words(query), before.words(query), query);
      assert.deepEqual(after.search(a, query, limit), before.search(b, query, limit), query);
      assert.deepEqual(after.suggest(a, query, limit), before.suggest(b, query, limit), query);
      assert.equal(after.snippet(content, query, limit + 1), before.snippet(content, query, limit + 1));
      assert.deepEqual(after.duplicates(a), before.duplicates(b));
      assert.deepEqual(a.all(), b.all());
      assert.deepEqual(a.find(id), b.find(id));
      assert.deepEqual(a.vocabulary(), b.vocabulary());
      for (const word of ['a', 'abc', 'constructor', 'nothing']) assert.deepEqual(a.counts(word), b.counts(word));
    }
  }
});

test('what was given out does not change the documents', () => {
  const documents = new after.Documents();
  documents.add('a', 'one two');
  documents.all().pop();
  documents.counts('one').clear();
  documents.vocabulary().pop();
  assert.deepEqual([documents.all().length, documents.counts('one').get('a'), documents.vocabulary()], [1, 1, ['one', 'two']]);
  const [all, counts] = [documents.all(), documents.counts('one')];
  documents.add('b', 'one');
  assert.deepEqual([all.length, counts.size], [1, 1]);
});

/** Runs work and checks the processor time that it takes, in seconds. */
function within(seconds: number, work: () => void): void {
  const { user } = process.cpuUsage();
  work();
  const used = (process.cpuUsage().user - user) / 1e6;
  assert.ok(used < seconds, `${used} s instead of ${seconds} s`);
}

function large(): after.Documents {
  const documents = new after.Documents();
  const next = numbers(9);
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: 12 }, () => `w${next(3000)}`).join(' ');
    documents.add(`d${i}`, `${text} rare${i % 5000} ${i % 2 === 0 ? 'even' : 'odd'}`);
  }
  return documents;
}

test('words', () => {
  within(3, () => {
    assert.deepEqual(after.words(`${'a'.repeat(50_000)}''b`), ['a'.repeat(50_000), 'b']);
    assert.equal(after.words("a'".repeat(100_000)).length, 1);
    assert.equal(after.words('a'.repeat(200_000) + "''").length, 1);
    assert.equal(after.words('- '.repeat(200_000)).length, 0);
    assert.equal(after.words('word '.repeat(200_000)).length, 200_000);
  });
});

test('adding, searching and removing', () => {
  let documents = new after.Documents();
  within(6, () => (documents = large()));
  within(4, () => {
    for (let i = 0; i < 3000; i++) assert.equal(after.search(documents, `rare${i} ${i % 2 === 0 ? 'even' : 'odd'}`, 10).length, 4);
  });
  within(4, () => {
    for (let i = 0; i < 15; i++) assert.equal(after.search(documents, 'even w1*', 10).length, 10);
  });
  within(4, () => {
    for (let i = 0; i < 300; i++) assert.equal(after.suggest(documents, `w${1 + (i % 9)}`, 5).length, 5);
    for (let i = 0; i < 3000; i++) assert.deepEqual(after.suggest(documents, `rare${i + 1000}`, 5), [`rare${i + 1000}`]);
  });
  within(4, () => {
    for (let i = 0; i < 3000; i++) {
      documents.add(`d${i}`, `changed${i}`);
      assert.deepEqual(after.search(documents, `changed${i}`, 2).map(({ id }) => id), [`d${i}`]);
      assert.deepEqual(after.suggest(documents, `changed${i}`, 1), [`changed${i}`]);
    }
  });
  within(4, () => {
    for (let i = 0; i < 20_000; i++) assert.ok(documents.remove(`d${i}`) && documents.find(`d${i + 1}`)?.id !== `d${i}`);
    assert.deepEqual([documents.all(), documents.vocabulary()], [[], []]);
  });
});

test('snippets and duplicates', () => {
  const query = Array.from({ length: 200 }, (_, i) => `w${i}`).join(' ');
  const text = Array.from({ length: 60_000 }, (_, i) => `w${(i * 7919) % 5003}`).join(' ');
  within(3, () => assert.equal(after.snippet(text, query, 5000).split(' ').length, 5000));
  const documents = new after.Documents();
  for (let i = 0; i < 10_000; i++) documents.add(`d${String(i).padStart(5, '0')}`, `a${i % 4000} b c a${i % 4000}`);
  within(3, () => {
    const groups = after.duplicates(documents);
    assert.equal(groups.length, 4000);
    assert.deepEqual(groups[0], ['d00000', 'd04000', 'd08000']);
  });
});
