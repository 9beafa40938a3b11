import { describe, expect, test } from 'vitest';
import { splitTopics } from '../../../src/model/offline/topics.ts';

describe('splitTopics', () => {
  test.each<[string, readonly string[]]>([
    ['Where is the retry and backoff logic?', ['Where is the retry and backoff logic?']],
    ['Where are files read and written?', ['Where are files read and written?']],
    [
      'Where is the retry logic? How are ids made?',
      ['Where is the retry logic?', 'How are ids made?'],
    ],
    [
      'Where is the retry logic, and where are ids made?',
      ['Where is the retry logic', 'where are ids made?'],
    ],
    [
      'Where are readFile, write_file and fs.stat defined?',
      [
        'Where are readFile defined?',
        'Where are write_file defined?',
        'Where are fs.stat defined?',
      ],
    ],
    ['Find:\n1. the retry delay\n2) the id generator', ['the retry delay', 'the id generator']],
    ['- the retry delay\n- the id generator', ['the retry delay', 'the id generator']],
    [
      'Where is the retry delay?\n\nAnswer with the three best places as path:line.',
      ['Where is the retry delay?'],
    ],
    ['Answer with one line.', ['Answer with one line.']],
    ['Where is it? Where is it?', ['Where is it? Where is it?']],
    ['', ['']],
  ])('%s', (question, expected) => {
    expect(splitTopics(question)).toEqual(expected);
  });
});
