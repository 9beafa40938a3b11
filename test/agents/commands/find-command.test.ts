import { expect, it, test } from 'vitest';
import {
  findSlashCommand,
  listOfferedCommands,
  type NamedDefinitions,
} from '../../../src/agents/commands/find-command.ts';
import { listSlashCommands } from '../../../src/agents/commands/list-commands.ts';
import { skillNamed } from '../skills/support.ts';
import { commandWith } from './support.ts';

const review = commandWith('Project.', { scope: 'project', path: '/p/review.md' });
const hidden = commandWith('User.', { path: '/u/review.md', source: 'gemini' });
const deploy = commandWith('Ship.', { name: 'deploy', argumentHint: '[host]' });
const help = commandWith('Help.', { name: 'Help', source: 'muster' });
const plugin = commandWith('Lint.', {
  name: 'tools:lint',
  source: 'tools',
  scope: 'plugin',
  pluginDirectory: '/plugins/tools',
});
/** Two commands with the same last name, and one of a product that has folders in its names. */
const others = [
  commandWith('A.', { name: 'a:fix', path: '/a/fix.md' }),
  commandWith('B.', { name: 'b:fix', path: '/b/fix.md' }),
  commandWith('C.', { name: 'git:commit', path: '/git/commit.toml', syntax: 'gemini' }),
];
const skills = [skillNamed('deploy'), skillNamed('secret', { userInvocable: false })];
const definitions: NamedDefinitions = {
  commands: {
    items: [review, deploy, help, plugin, ...others],
    shadowed: [{ item: hidden, by: review.path }],
  },
  skills,
};

it.each([
  ['review', review],
  ['REVIEW', review],
  ['project:review', review],
  ['claude:review', review],
  ['user:review', hidden],
  ['gemini:review', hidden],
  ['user:deploy', deploy],
  ['user:help', help],
  ['tools:lint', plugin],
  ['lint', plugin],
  ['fix', null],
  ['commit', null],
  ['plugin:tools:lint', null],
  ['help', null],
  ['secret', null],
  ['other', null],
])('%s', (typed, command) => {
  expect(findSlashCommand(typed, definitions)).toEqual(
    command === null ? null : { kind: 'command', command },
  );
});

test('a skill has precedence over a command of the same name', () => {
  expect(findSlashCommand('deploy', definitions)).toEqual({ kind: 'skill', skill: skills[0] });
});

test('the list says what to type and where each comes from', () => {
  expect(listOfferedCommands(definitions)).toEqual([
    { name: 'a:fix', description: 'Reviews.', source: 'user, claude' },
    { name: 'b:fix', description: 'Reviews.', source: 'user, claude' },
    { name: 'deploy', description: 'Does deploy.', source: 'skill, user' },
    { name: 'git:commit', description: 'Reviews.', source: 'user, claude' },
    { name: 'review', description: 'Reviews.', source: 'project, claude' },
    { name: 'tools:lint', description: 'Reviews.', source: 'plugin tools' },
    { name: 'user:Help', description: 'Reviews.', source: 'user' },
    {
      name: 'user:deploy',
      argumentHint: '[host]',
      description: 'Reviews.',
      source: 'user, claude',
    },
  ]);
});

test('the listing names the reason why a name runs something else', () => {
  const found = { ...definitions.commands, skipped: [], problems: [] };
  const names = { skills: ['deploy'], defaultAgent: 'general-purpose' };
  const { commands } = listSlashCommands(found, names);
  expect(commands.map(({ name, hidden, shadowedBy }) => [name, hidden, shadowedBy])).toEqual([
    ['review', null, null],
    ['deploy', '/deploy is a skill; type /user:deploy for this file', null],
    [
      'Help',
      '/Help is a command of Muster in the terminal UI; type /user:Help for this file',
      null,
    ],
    ['tools:lint', null, null],
    ['a:fix', null, null],
    ['b:fix', null, null],
    ['git:commit', null, null],
    ['review', null, '/p/review.md'],
  ]);
});

test('the listing has all that a command does', () => {
  const command = commandWith('Look: !`git status` and !`git diff $1`', {
    shellRules: ['Bash(git status)'],
    turnRules: ['Read'],
    model: 'haiku',
    context: 'fork',
    withoutEffect: ['effort: high — none.'],
  });
  const found = { items: [command], shadowed: [], skipped: [], problems: [] };
  const names = { skills: [], defaultAgent: 'general-purpose' };
  expect(listSlashCommands(found, names).commands).toEqual([
    {
      name: 'review',
      description: 'Reviews.',
      path: '/commands/review.md',
      scope: 'user',
      source: 'user, claude',
      argumentHint: null,
      context: 'fork',
      agent: 'general-purpose',
      shell: ['git status', 'git diff $1'],
      shellRules: ['Bash(git status)'],
      turnRules: ['Read'],
      model: 'haiku',
      withoutEffect: ['effort: high — none.'],
      hidden: null,
      warnings: [],
      shadows: [],
      shadowedBy: null,
    },
  ]);
});
