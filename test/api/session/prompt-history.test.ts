import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPromptHistory } from '../../../src/api/session/prompt-history.ts';

let directory: string;
let problems: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-typed-'));
  problems = [];
});
afterEach(() => rmSync(directory, { recursive: true }));

function open(cwd = '/work') {
  return openPromptHistory({
    directory,
    cwd,
    redact: (text) => text.replaceAll('secret', '[REDACTED]'),
    onProblem: (line) => problems.push(line),
  });
}

function fileOf(): string {
  const place = join(directory, 'typed');
  return join(place, readdirSync(place)[0] ?? '');
}

it('is available in the next session of the same directory, without secrets, for its user only', () => {
  const history = open();
  expect(history.entries()).toEqual([]);
  history.add('one\ntwo');
  history.add('the secret');
  expect(open().entries()).toEqual(['one\ntwo', 'the [REDACTED]']);
  expect(open('/other').entries()).toEqual([]);
  expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
  expect(problems).toEqual([]);
});

it('keeps the newest entries in a file of limited size', () => {
  const history = open();
  for (let at = 0; at < 1_200; at += 1) history.add(`entry ${at}`);
  history.add('x'.repeat(20_000));
  const entries = open().entries();
  expect([entries.length, entries[0]]).toEqual([500, 'entry 701']);
  expect(entries.at(-1)).toHaveLength(10_000);
  expect(readFileSync(fileOf(), 'utf8').split('\n')).toHaveLength(501);
});

it('skips invalid lines', () => {
  open().add('one');
  appendFileSync(fileOf(), '{"no": "entry"}\n17\n""\n"cut of');
  expect(open().entries()).toEqual(['one']);
});

it('follows no link, and reports what is wrong', () => {
  open().add('one');
  const file = fileOf();
  const other = join(directory, 'other');
  writeFileSync(other, '"stolen"\n');
  rmSync(file);
  symlinkSync(other, file);
  expect(open().entries()).toEqual([]);
  open().add('two');
  expect(readFileSync(other, 'utf8')).toBe('"stolen"\n');
  expect(problems).toHaveLength(2);
});
