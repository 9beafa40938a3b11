import { describe, expect, it } from 'vitest';
import { parseTaskArguments } from '../../../src/engine/task/task-arguments.ts';

const CONTEXT =
  'context: must be fresh, inherit, summary, last:N (the last N turns), or {files: [paths], results: [task ids]}';

describe('the arguments of Task', () => {
  it.each([
    ['only the required ones', { prompt: 'find it' }, { prompt: 'find it' }],
    [
      'all of them',
      {
        description: 'Find it',
        prompt: 'find it',
        subagent_type: 'Explore',
        model: 'fast',
        max_turns: 3,
        run_in_background: true,
        resume: '4f2k9x',
      },
      {
        description: 'Find it',
        prompt: 'find it',
        subagentType: 'Explore',
        model: 'fast',
        maxTurns: 3,
        background: true,
        resume: '4f2k9x',
      },
    ],
    ['task for prompt', { task: 'find it' }, { prompt: 'find it' }],
    [
      'type and input',
      { type: 'explore', input: 'find it' },
      { prompt: 'find it', subagentType: 'explore' },
    ],
    [
      'fields that have their default effect',
      { prompt: 'find it', run_in_background: false, context: 'fresh', isolation: 'none' },
      { prompt: 'find it', background: false, isolation: 'none' },
    ],
    [
      'fork for context',
      { prompt: 'a', fork: true },
      { prompt: 'a', context: { kind: 'inherit' } },
    ],
    ['no fork', { prompt: 'a', fork: false }, { prompt: 'a' }],
    [
      'the full conversation',
      { prompt: 'a', context: 'inherit' },
      { prompt: 'a', context: { kind: 'inherit' } },
    ],
    [
      'some turns',
      { prompt: 'a', context: 'last:12' },
      { prompt: 'a', context: { kind: 'last', turns: 12 } },
    ],
    [
      'a summary',
      { prompt: 'a', context: 'summary' },
      { prompt: 'a', context: { kind: 'summary' } },
    ],
    [
      'files and results',
      { prompt: 'a', context: { files: ['a.ts', 'a.ts', 'b.ts'], results: ['4f2k9x3a'] } },
      {
        prompt: 'a',
        context: { kind: 'chosen', files: ['a.ts', 'b.ts'], results: ['4f2k9x3a'] },
      },
    ],
    [
      'an object that is written as text',
      { prompt: 'a', context: '{"files": ["a.ts"]}' },
      { prompt: 'a', context: { kind: 'chosen', files: ['a.ts'], results: [] } },
    ],
    ['null for absent', { prompt: 'find it', model: null }, { prompt: 'find it' }],
    [
      'an empty text for absent',
      { prompt: 'find it', model: '', description: '' },
      { prompt: 'find it' },
    ],
  ])('accept %s', (_, params, input) => {
    expect(parseTaskArguments(params)).toEqual({
      ok: true,
      input: { ...input, params },
    });
  });

  it.each([
    ['something that is not an object', 'find it', ['the arguments must be an object']],
    [
      'no prompt',
      {},
      ['prompt: is missing; it must be a text that says what the subagent is to do'],
    ],
    ['an empty prompt', { prompt: ' \n' }, ['prompt: must not be empty']],
    ['a prompt that is not text', { prompt: 7 }, ['prompt: must be a text, not a number']],
    ['a list', { prompt: ['a'] }, ['prompt: must be a text, not a list']],
    [
      'an unknown argument without a value',
      { prompt: 'a', colour: null },
      [
        'colour: is not an argument of Task; valid are description, prompt, subagent_type, model, run_in_background, resume, max_turns, output_schema, accept, models, context, isolation',
      ],
    ],
    [
      'both names of one argument',
      { prompt: 'a', task: 'b' },
      ['task: means prompt, which is given too; send one of them'],
    ],
    [
      'fewer turns than 1',
      { prompt: 'a', max_turns: 0 },
      ['max_turns: must be a whole number above 0, not 0'],
    ],
    [
      'a fraction of a turn',
      { prompt: 'a', max_turns: 1.5 },
      ['max_turns: must be a whole number above 0, not 1.5'],
    ],
    [
      'an unknown one',
      { prompt: 'a', agent: 'x' },
      [
        'agent: is not an argument of Task; valid are description, prompt, subagent_type, model, run_in_background, resume, max_turns, output_schema, accept, models, context, isolation',
      ],
    ],
    [
      'an unknown isolation',
      { prompt: 'a', isolation: 'chroot' },
      ['isolation: must be one of none, worktree, process, not "chroot"'],
    ],
    [
      'an isolation for a task that is resumed',
      { prompt: 'a', resume: 'abcdefgh', isolation: 'worktree' },
      ['isolation: is for new tasks; a resumed task keeps its own'],
    ],
    ['another word', { prompt: 'a', context: 'all' }, [`${CONTEXT}, not "all"`]],
    ['a broken object', { prompt: 'a', context: '{"files"' }, [`${CONTEXT}, not "{\\"files\\""`]],
    ['no turns', { prompt: 'a', context: 'last:0' }, [`${CONTEXT}, not "last:0"`]],
    ['a list for context', { prompt: 'a', context: ['a.ts'] }, [`${CONTEXT}, not ["a.ts"]`]],
    [
      'an empty context',
      { prompt: 'a', context: { files: [] } },
      ['context: has neither files nor results; name some, or leave it out'],
    ],
    [
      'a file that is not text',
      { prompt: 'a', context: { files: ['a.ts', 1], results: 'x' } },
      [
        'context.files: must be a list of texts, not ["a.ts",1]',
        'context.results: must be a list of texts, not "x"',
      ],
    ],
    [
      'too many files',
      { prompt: 'a', context: { files: Array.from({ length: 33 }, (_, index) => `${index}.ts`) } },
      ['context.files: may name at most 32, not 33'],
    ],
    [
      'an unknown part of context',
      { prompt: 'a', context: { file: ['a.ts'] } },
      [
        'context.file: is not a part of context; valid are files, results',
        'context: has neither files nor results; name some, or leave it out',
      ],
    ],
    [
      'both ways to ask for a fork',
      { prompt: 'a', context: 'fresh', fork: true },
      ['fork: means context, which is given too; send one of them'],
    ],
    [
      'something that is not a boolean',
      { prompt: 'a', fork: 'yes' },
      ['fork: must be true or false, not "yes"'],
    ],
    [
      'context for a resume',
      { prompt: 'a', resume: '4f2k9x', context: 'inherit' },
      ['context: is for new tasks; a resumed task keeps its own context'],
    ],
    [
      'a prototype',
      JSON.parse('{"prompt":"a","__proto__":1}'),
      [
        '__proto__: is not an argument of Task; valid are description, prompt, subagent_type, model, run_in_background, resume, max_turns, output_schema, accept, models, context, isolation',
      ],
    ],
  ])('refuse %s', (_, params, issues) => {
    expect(parseTaskArguments(params)).toEqual({ ok: false, issues });
  });
});
