import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Documents, search, snippet, suggest, words } from '../src/index.ts';

const WORDS = ['apple', 'banana', 'cherry', 'date', 'elder', 'fig', 'grape', 'hazel'];

test('small', () => {
  const documents = new Documents();
  documents.add('one', "An apple, a date; don't eat the apple");
  documents.add('two', 'Dates and apples');
  assert.deepEqual(words("Don't"), ["don't"]);
  assert.deepEqual(search(documents, 'apple', 5), [{ id: 'one', score: 4 }]);
  assert.deepEqual(search(documents, 'dat* apple*', 5).map(({ id }) => id), ['one', 'two']);
  assert.deepEqual(suggest(documents, 'eat ap', 3), ['apple', 'apples']);
  assert.equal(snippet('a b c d e', 'd c', 2), 'c d');
});

test('many documents', () => {
  const before = process.cpuUsage().user;
  const documents = new Documents();
  for (let i = 0; i < 1000; i++) documents.add(`d${i}`, `${WORDS[i % 8]} ${WORDS[(i * 3) % 7]} word${i}`);
  for (let i = 0; i < 100; i++) {
    assert.equal(search(documents, `${WORDS[i % 8]} word${i}`, 10)[0]?.id, `d${i}`);
    assert.ok(process.cpuUsage().user - before < 3_000_000, 'it takes too long');
  }
});
