import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  createMuster,
  defineTool,
  taskTool,
  UsageError,
  type MusterOptions,
} from '../../src/library.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { open } from './support.ts';

const answer = () => createScriptedModel(() => ({ text: 'x' }));

it.each<[object, string]>([
  [{ hooks: { PreToolUse: () => {} } }, 'createMuster: hooks.PreToolUse must be an array of hooks'],
  [{ tools: [{}] }, 'createMuster: tools[0]: must be a tool that defineTool of this copy'],
  [{ models: { x: null } }, 'createMuster: models: x must be string or object, not null'],
  [{ models: { x: {} } }, "models.x: must be a model's name"],
  [{ clock: {} }, 'createMuster: clock.now must be a function that returns a time'],
  [
    { clock: { now: () => 0, monotonic: () => Number.NaN } },
    'createMuster: clock.monotonic must be a function that returns a time',
  ],
  [{ addDirs: [5] }, 'createMuster: addDirs must be array of strings, not array'],
  [{ allow: [5] }, 'createMuster: allow must be array of strings, not array'],
  [{ agents: { a: 'x' } }, 'createMuster: agents: a must be object, not string'],
  [{ environment: { A: 5 } }, 'createMuster: environment: A must be string, not number'],
  [{ context: { a: 5 } }, 'createMuster: context: a must be string or function, not number'],
])('createMuster refuses %j', async (options, message) => {
  const thrown: unknown = await createMuster({
    model: answer(),
    ...options,
  } as MusterOptions).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(UsageError);
  expect(thrown).toHaveProperty('message', expect.stringContaining(message));
});

it('the methods refuse wrong arguments', async () => {
  const muster = await open({ model: answer() });
  const run = muster.run('Go.');
  await run;
  const calls: readonly (readonly [() => unknown, string])[] = [
    ...[undefined, 5, {}].map(
      (prompt) =>
        [
          () => muster.run(prompt as never),
          'run: the prompt must be a text or an async iterable of texts',
        ] as const,
    ),
    [() => muster.run('x', { signal: {} as never }), 'run: signal must be an AbortSignal'],
    [
      () => muster.run('x', { budget: { tokens: Number.NaN } }),
      'run: budget: tokens must be finite number, not NaN',
    ],
    ...[1.5, 0.2].map(
      (turns) =>
        [
          () => muster.run('x', { budget: { turns } }),
          `run: budget.turns must be a whole number, not ${turns}`,
        ] as const,
    ),
    ...[-1, 1.5].map(
      (at) =>
        [
          () => muster.branch(run.id, { at }),
          `branch: at must be a whole number of at least 0, not ${at}`,
        ] as const,
    ),
    [
      () => muster.readEvents(run.id, Number.NaN),
      'readEvents: from must be a whole number of at least 0, not NaN',
    ],
    [
      () => taskTool(muster, { agents: [] }),
      'taskTool: agents must name an agent; leave it out for all agents',
    ],
  ];
  for (const [call, message] of calls) expect(call).toThrow(new UsageError(message));
});

it('a task tool keeps its agents when the array of the program changes', async () => {
  const muster = await open({ model: answer() });
  const agents = ['Explore'];
  const tool = taskTool(muster, { agents });
  agents.push('general-purpose');
  await expect(tool.execute({ prompt: 'Go.', agent: 'general-purpose' })).rejects.toThrow(
    'Task: agent must be one of Explore',
  );
});

it('defineTool refuses the schema of a value that is no object', () => {
  const define = () =>
    defineTool({ name: 'own', description: 'Own.', input: z.string(), run: () => 'x' });
  expect(define).toThrow(
    new UsageError('defineTool: input of own must be the schema of an object, not of "string"'),
  );
});
