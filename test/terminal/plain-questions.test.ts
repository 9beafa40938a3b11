import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { bash, openWorld } from '../e2e/world.ts';
import { delegate, inTerminal, isChild, openLines, roundsOf, say, typedText } from './story.ts';

const TODOS = [
  { content: 'Find it', status: 'completed' },
  { content: 'Change it', status: 'in_progress' },
];

/** The calls of the main agent, one message after another, by the first word of the message of the user. */
const CALLS: Readonly<Record<string, readonly Answer[]>> = {
  todo: [{ toolCalls: [{ name: 'TodoWrite', input: { todos: TODOS } }] }],
  fail: [{ toolCalls: [bash('seq 9; exit 3')] }],
  edit: [
    { toolCalls: [{ name: 'Write', input: { file_path: 'w.txt', content: 'old\n' } }] },
    {
      toolCalls: [
        { name: 'Edit', input: { file_path: 'w.txt', old_string: 'old', new_string: 'new' } },
      ],
    },
    { toolCalls: [{ name: 'Write', input: { file_path: 'v.txt', content: 'v\n' } }] },
  ],
  plan: [{ toolCalls: [{ name: 'ExitPlanMode', input: { plan: '# Plan\n\n1. Do it' } }] }],
  which: [{ toolCalls: [{ name: 'AskUser', input: { question: 'Which?', options: ['A', 'B'] } }] }],
  compound: [{ toolCalls: [bash('touch a1 && mkdir b1')] }],
  keep: [{ toolCalls: [bash('touch kept')] }],
  three: [{ toolCalls: ['a', 'b', 'c'].map((name) => delegate(`same ${name}`, `part ${name}`)) }],
  twelve: [{ toolCalls: Array.from({ length: 12 }, (_, index) => delegate(`file ${index}`)) }],
};

/** Children touch a file; the main agent does what the message says. */
function script(request: RecordedRequest): Answer {
  const said = typedText(request);
  if (isChild(request)) {
    if (toolResultRounds(request) > 0) return { text: 'The child is done.' };
    return { toolCalls: [bash(`touch made${/file (\d+)/.exec(said)?.[1] ?? ''}`)] };
  }
  const calls = CALLS[said.split(' ')[0] ?? ''] ?? [];
  return calls[roundsOf(request)] ?? { text: `Over: ${said}.` };
}

inTerminal('plain lines show todo lists, failures, changes, plans and answers', async () => {
  await using world = await openWorld({ script });
  using terminal = await openLines(world, { args: ['--screen-reader', '--allow', 'Bash'] });
  await say(terminal, 'todo', 'Over: todo.');
  expect(terminal.screen()).toContain('To do: 1 of 2 done, now: Change it');
  const failed = await say(terminal, 'fail', 'Over: fail.');
  expect(failed).toMatch(
    /Exit code 3 after .*: Bash: seq 9; exit 3\n {2}4\n {2}5\n {2}6\n {2}7\n {2}8\n {2}9\n/,
  );
  await say(terminal, '/permissions mode plan', 'permission mode: plan');
  const plan = await say(terminal, 'plan', 'Type y to approve it');
  expect(plan).toMatch(/asks to carry out this plan\.\n {2}# Plan\n *\n {2}1\. Do it\n/);
  await say(terminal, 'n with tests', 'Over: plan.');
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain('with tests');
  await say(terminal, '/permissions mode default', 'permission mode: default');
  const asked = await say(
    terminal,
    'which',
    'Type the number of one of these, or t and your answer.',
  );
  expect(asked).toMatch(/Which\?\n {2}1: A\n {2}2: B\n/);
  await say(terminal, '2', 'Over: which.');
  expect(JSON.stringify(world.model.requests.at(-1)?.messages.at(-1))).toContain('B');
  const written = await say(terminal, 'edit', /w\.txt\n {2}Writes:\n {2}old\n/);
  expect(written.replaceAll('\n', '')).toContain('(Edit(./w.txt))');
  expect(written.replaceAll('\n', '')).toContain('e to accept edits from here on');
  await say(terminal, 'y', /w\.txt\n {2}Replaces:\n {2}old\n {2}By:\n {2}new\n/);
  // The third change is not asked for.
  await say(terminal, 'e', 'Over: edit.');
  expect(existsSync(join(world.sandbox.workspace, 'v.txt'))).toBe(true);
});

inTerminal(
  'a compound command has a rule for each part, and a plain no ends the turn',
  async () => {
    await using world = await openWorld({ script });
    const { sandbox, model } = world;
    using terminal = await openLines(world, { env: { TERM: 'dumb' }, args: [] });
    const compound = await say(terminal, 'compound', 'Type y for once');
    expect(compound.replaceAll('\n', '')).toContain(
      'a for always in this conversation (Bash(touch a1), Bash(mkdir b1))',
    );
    // Not now: the question waits while the user does something else.
    await say(terminal, '/usage', 'Usage of this conversation');
    const requests = model.requests.length;
    const refused = await say(terminal, 'n', 'the user said no to Bash touch a1');
    expect(refused).toContain('Refused: Bash: touch a1 && mkdir b1');
    await terminal.sees('Ready.');
    expect(model.requests).toHaveLength(requests);
    await say(terminal, 'compound again', 'Question: main asks to run Bash.');
    await say(terminal, 'n use another name', 'Over: compound again.');
    expect(model.requests.at(-1)?.messages.at(-1)?.toolResults[0]?.text).toContain(
      'use another name',
    );
    await say(terminal, 'keep', 'Type y for once');
    await say(terminal, 'p', 'Over: keep.');
    expect(existsSync(join(sandbox.workspace, 'kept'))).toBe(true);
    const { stdout } = await world.run(['trust', 'list']);
    expect(stdout).toContain('Bash(touch kept)');
  },
);

inTerminal('one answer is for all similar questions, and always for all children', async () => {
  await using world = await openWorld({ script });
  const made = (name: string): boolean => existsSync(join(world.sandbox.workspace, name));
  using terminal = await openLines(world, { size: [80, 100] });
  const asked = await say(terminal, 'twelve', /Question: main > general-purpose “file \d+” asks/);
  expect(asked).toMatch(/Task \w+ general-purpose begins: file 0/);
  // Questions that come later are named, so that A answers them as well.
  await terminal.sees('Type A before your answer, such as A y, to answer these alike:');
  await terminal.sees(/(touch made\d+[^]*){12}/);
  await say(terminal, 'A y', 'Over: twelve.');
  const all = Array.from({ length: 12 }, (_, index) => made(`made${index}`));
  expect(all).not.toContain(false);
  await say(terminal, 'three', /Question: main > general-purpose “part .” asks/);
  await say(terminal, 'a', 'Over: three.');
  expect(made('made')).toBe(true);
  await say(terminal, 'three again', 'Over: three again.');
});
