import { expect, it } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { readCommand } from '../../eval/options.ts';
import { planRuns } from '../../eval/plan.ts';
import { LANGUAGES, loadTasks } from '../../eval/tasks.ts';
import { join, resolve } from 'node:path';

const TASKS = resolve(import.meta.dirname, '../../eval/tasks');

it('reads a command with all of its options', () => {
  const line =
    '--model a/b --only x,y --only z --language go --delegation off --family-shape openai,kimi --repeat 2 --jobs 3 --out o --max-cost-usd 0.5 --max-seconds 60 --config c.toml --tasks t';
  expect(readCommand(line.split(' '))).toEqual({
    kind: 'run',
    model: 'a/b',
    selection: { directory: 't', only: ['x', 'y', 'z'], languages: ['go'] },
    variants: { delegation: 'off', shapes: ['openai', 'kimi'], repeat: 2 },
    jobs: 3,
    out: 'o',
    maxCostUsd: 0.5,
    maxSeconds: 60,
    config: 'c.toml',
    script: null,
  });
});

it('runs all tasks with and without delegation by default', () => {
  expect(readCommand(['--model', 'a/b'])).toMatchObject({
    selection: { directory: null, only: [], languages: [] },
    variants: { delegation: 'both', shapes: ['auto'], repeat: 1 },
    jobs: 4,
  });
});

it.each([
  ['--jobs 2', '--model is missing'],
  ['--model a/b --jobs 0', '--jobs: "0" is not a whole number above 0'],
  ['--model a/b --jobs 1.5', '--jobs: "1.5" is not a whole number above 0'],
  ['--model a/b --delegation maybe', '"maybe" is not one of on, off, both'],
  ['--model a/b --family-shape gpt', '"gpt" is not one of auto, muster, openai'],
  ['--model a/b --language perl', '"perl" is not one of javascript'],
  ['--model a/b --script s.json', '--script is for --model scripted only'],
  ['--model a/b extra', 'unexpected argument: extra'],
  ['--compare a', '--compare needs two directories'],
  ['--nonsense', "Unknown option '--nonsense'"],
])('refuses %s', (line, message) => {
  expect(() => readCommand(line.split(' '))).toThrow(UsageError);
  expect(() => readCommand(line.split(' '))).toThrow(message);
});

it('plans the variants of a task one after the other, and the repetitions last', () => {
  const [task] = loadTasks(TASKS);
  if (task === undefined) throw new Error('there are no tasks');
  const runs = planRuns([task], { delegation: 'both', shapes: ['auto', 'kimi'], repeat: 2 });
  expect(runs.map(({ id }) => id.slice(task.name.length))).toEqual(
    [1, 2].flatMap((round) => [
      `.on.auto.${round}`,
      `.on.kimi.${round}`,
      `.off.auto.${round}`,
      `.off.kimi.${round}`,
    ]),
  );
});

it('has fifty tasks with different messages, and several in every language', () => {
  const tasks = loadTasks(TASKS);
  expect(tasks).toHaveLength(50);
  for (const language of LANGUAGES) {
    expect(tasks.filter((task) => task.language === language).length).toBeGreaterThanOrEqual(3);
  }
  expect(new Set(tasks.map(({ prompt }) => prompt)).size).toBe(tasks.length);
  for (const { name, directory } of tasks) expect(directory).toBe(join(TASKS, name));
});
