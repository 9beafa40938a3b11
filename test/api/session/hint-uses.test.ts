import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHintUses } from '../../../src/api/session/hint-uses.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hints-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('counts the uses of all sessions', () => {
  const problems: string[] = [];
  const onProblem = (line: string) => void problems.push(line);
  expect(openHintUses(directory, onProblem).counts()).toEqual(new Map());
  openHintUses(directory, onProblem).add('help');
  openHintUses(directory, onProblem).add('help');
  openHintUses(directory, onProblem).add('back: back');
  const counts = openHintUses(directory, onProblem).counts();
  expect(counts).toEqual(
    new Map([
      ['help', 2],
      ['back: back', 1],
    ]),
  );
  expect(problems).toEqual([]);
});

it('reports a damaged file once, does not change it, and counts nothing', () => {
  const file = join(directory, 'hints.json');
  writeFileSync(file, '[', { mode: 0o600 });
  const problems: string[] = [];
  const uses = openHintUses(directory, (line) => void problems.push(line));
  expect(uses.counts()).toEqual(new Map());
  uses.add('help');
  expect(problems.map((line) => line.replace(directory, ''))).toEqual([
    'the use of hints is not counted: /hints.json is damaged (it holds no counts), so nothing in it applies: move it away, then start again',
  ]);
  expect(readFileSync(file, 'utf8')).toBe('[');
});
