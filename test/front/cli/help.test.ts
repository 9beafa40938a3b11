import { describe, expect, it } from 'vitest';
import { CLI_COMMANDS } from '../../../src/front/cli/commands.ts';
import { FLAG_NAMES } from '../../../src/front/cli/flags.ts';
import { helpText, helpWidth } from '../../../src/front/cli/help.ts';
import { parse } from './parse.ts';

/** The help that a command line prints. */
async function helpOf(...argv: readonly string[]): Promise<string> {
  const { words, options } = await parse(argv);
  if (words !== 'help') throw new Error(`${argv.join(' ')} starts ${words}`);
  return helpText((options as { readonly words: readonly string[] }).words, CLI_COMMANDS);
}

describe('help', () => {
  it('of the program', async () => {
    expect(await helpOf('--help')).toMatchSnapshot();
  });

  it('of a command', async () => {
    expect(await helpOf('tasks', 'show', '--help')).toMatchSnapshot();
  });

  it('of a group of commands', async () => {
    expect(await helpOf('tasks', '--help')).toMatchSnapshot();
  });

  it.each([
    [['-h'], ['--help']],
    [['help'], ['--help']],
    [['-h', '--verbose'], ['--help']],
    [['-p', 'tasks', '--help'], ['--help']],
    [
      ['help', 'tasks', 'show'],
      ['tasks', 'show', '-h'],
    ],
    [
      ['help', 'tasks'],
      ['tasks', '--help'],
    ],
  ])('%j prints the same as %j', async (argv, other) => {
    expect(await helpOf(...argv)).toBe(await helpOf(...other));
  });

  it('describes a flag in the words of the command', async () => {
    const line = async (name: string, ...argv: string[]) =>
      new RegExp(`^ +(--${name} .*)$`, 'm')
        .exec(await helpOf(...argv))?.[1]
        ?.replaceAll(/ +/g, ' ');
    expect([
      await line('from', 'help', 'tasks', 'log'),
      await line('from', 'help', 'agents', 'new'),
      await line('force', 'help', 'agents', 'new'),
      await line('force', 'help', 'tasks', 'export'),
      await line('verbose', 'help', 'agents', 'list'),
    ]).toEqual([
      '--from <N> the number of the first event',
      '--from <NAME> the agent, or example (deepresearch, code), that it is copied from;',
      '--force replace files that exist',
      '--force replace FILE if it exists',
      '--verbose everything known of each, and agents that another one of the same name hides',
    ]);
  });

  it('has every flag in the help of some command', async () => {
    const pages = [[], ...CLI_COMMANDS.map(({ words }) => words.split(' '))].map((words) =>
      helpText(words, CLI_COMMANDS),
    );
    const text = pages.join();
    expect(FLAG_NAMES.filter((name) => !text.includes(`--${name}`))).toEqual([]);
  });

  it.each([
    [undefined, 96],
    [200, 96],
    [80, 79],
  ])('for %s columns is never wider than %i, except for examples', (columns, width) => {
    const pages = [[], ...CLI_COMMANDS.map(({ words }) => words.split(' '))].map((words) =>
      helpText(words, CLI_COMMANDS, helpWidth(columns)),
    );
    const lines = pages.flatMap((page) => page.split('\n'));
    expect(
      lines.filter((line) => line.length > width && !/^ {2}(muster|git|gunzip) /.test(line)),
    ).toEqual([]);
  });
});
