import { expect, test } from 'vitest';
import { askedKinds } from '../../src/model/offline/asked-kinds.ts';

test.each([
  ['Where are the tests of the cookie jar?', ['test']],
  ['Which test covers a lost connection?', ['test']],
  ['Where is the parser tested?', ['test']],
  ['cookie jar tests', ['test']],
  ['Where is retrying documented?', ['docs']],
  ['What does the readme say about proxies?', ['docs']],
  ['Is there an example of a custom reporter?', ['example']],
  ['Which workflow file runs the release?', ['data']],
  ['In which JSON file are the limits set?', ['data']],
  ['Which YAML holds the matrix of builds?', ['data']],
  ['Which stylesheet colours the links?', ['style']],
])('%s → %j', (question, kinds) => {
  expect([...askedKinds(question, [])]).toEqual(kinds);
});

test.each([
  'Where are duplicate keys of a map detected while parsing JSON?',
  'Where is a JSON file parsed?',
  'How is YAML turned into objects?',
  'Fix lost cookies and add tests for them',
  'Added the example of a reporter',
  'Where is HTML escaped?',
  'Where is the style of a cell computed?',
  'Where is a test failed when it takes too long?',
  'Where is a folder deleted after a test?',
  'How is a fixture shared between tests?',
  'Where are redirects followed in the test client?',
  'Where is a number, for example 12, rounded?',
  'Where is a guide line drawn?',
])('what the sources do is no kind of file: %s', (question) => {
  expect([...askedKinds(question, [])]).toEqual([]);
});

test('a path tells its kind', () => {
  expect([...askedKinds('What does index.d.ts declare?', ['index.d.ts'])]).toEqual(['types']);
});
