import { describe, expect, it } from 'vitest';
import { parseTaskInput } from '../../src/engine/task-tools/task-input.ts';

describe('the arguments of Task', () => {
  it.each([
    ['the least', { prompt: 'find it' }, { prompt: 'find it' }],
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
      'what is done anyway',
      { prompt: 'find it', run_in_background: false, context: 'fresh', isolation: 'none' },
      { prompt: 'find it', background: false },
    ],
    ['null for absent', { prompt: 'find it', model: null }, { prompt: 'find it' }],
  ])('take %s', (_, params, input) => {
    expect(parseTaskInput(params)).toEqual({
      ok: true,
      input: { ...input, params },
    });
  });

  it.each([
    ['no object', 'find it', ['the arguments must be an object']],
    [
      'no prompt',
      {},
      ['prompt: is missing; it must be a text that says what the subagent is to do'],
    ],
    ['an empty prompt', { prompt: ' \n' }, ['prompt: must not be empty']],
    ['a prompt that is no text', { prompt: 7 }, ['prompt: must be a text, not a number']],
    ['a list', { prompt: ['a'] }, ['prompt: must be a text, not a list']],
    [
      'both names of one',
      { prompt: 'a', task: 'b' },
      ['task: means prompt, which is given too; send one of them'],
    ],
    [
      'turns below 1',
      { prompt: 'a', max_turns: 0 },
      ['max_turns: must be a whole number above 0, not 0'],
    ],
    [
      'broken turns',
      { prompt: 'a', max_turns: 1.5 },
      ['max_turns: must be a whole number above 0, not 1.5'],
    ],
    [
      'an unknown one',
      { prompt: 'a', agent: 'x' },
      [
        'agent: is not an argument of Task; valid are description, prompt, subagent_type, model, run_in_background, resume, max_turns, output_schema',
      ],
    ],
    [
      'one that is not there yet',
      { prompt: 'a', isolation: 'worktree' },
      ['isolation: is not available in this version; leave it out (it acts as "none")'],
    ],
    [
      'a prototype',
      JSON.parse('{"prompt":"a","__proto__":1}'),
      [
        '__proto__: is not an argument of Task; valid are description, prompt, subagent_type, model, run_in_background, resume, max_turns, output_schema',
      ],
    ],
  ])('refuse %s', (_, params, issues) => {
    expect(parseTaskInput(params)).toEqual({ ok: false, issues });
  });
});
