import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { bash, openWorld } from '../e2e/world.ts';
import {
  answer,
  delegate,
  inTerminal,
  isChild,
  leave,
  openTerminal,
  readQuestion,
  roundsOf,
  run,
  send,
  typedText,
} from './story.ts';

/** Children touch the file that they are told to; the main agent does what it is told to. */
function script(request: RecordedRequest): Answer {
  const said = typedText(request);
  if (isChild(request)) {
    if (toolResultRounds(request) > 0) return { text: 'The child is done.' };
    return { toolCalls: [bash('touch made')] };
  }
  if (roundsOf(request) > 0) return { text: `Done with: ${said}.` };
  if (said.startsWith('three')) {
    return { toolCalls: ['a', 'b', 'c'].map((name) => delegate(`part ${name}`)) };
  }
  if (said.startsWith('one child')) return { toolCalls: [delegate('part z')] };
  if (said.startsWith('compound')) return { toolCalls: [bash('touch a1 && mkdir b1')] };
  if (said.startsWith('write')) {
    return { toolCalls: [{ name: 'Write', input: { file_path: 'w.txt', content: 'w\n' } }] };
  }
  return { toolCalls: [bash(`touch ${said.split(' ').at(-1)}`)] };
}

inTerminal('“always” covers all children and waiting questions, and the project', async () => {
  await using world = await openWorld({ script });
  const made = (name: string): boolean => existsSync(join(world.sandbox.workspace, name));
  {
    using terminal = await openTerminal(world);
    await send(terminal, 'three children');
    const asked = await terminal.sees('1 of 3');
    expect(asked).toContain('“part a” asks to run Bash');
    expect(asked).toContain('a always (conversation): Bash(touch made) · p always (project)');
    await answer(terminal, 'a');
    // One key releases all three.
    await terminal.sees('Done with: three children.');
    expect(made('made')).toBe(true);
    await send(terminal, 'three again');
    await terminal.sees('Done with: three again.');
    await send(terminal, 'touch kept');
    await terminal.sees('asks to run Bash');
    await answer(terminal, 'p');
    await terminal.sees('Done with: touch kept.');
    await leave(terminal);
  }
  const { stdout } = await world.run(['trust', 'list']);
  expect(stdout).toContain('Bash(touch kept)');
  expect(stdout).not.toContain('Bash(touch made)');
});

inTerminal(
  'a compound command gets a rule for each part, and “not now” leaves it waiting',
  async () => {
    await using world = await openWorld({ script });
    using terminal = await openTerminal(world);
    await send(terminal, 'compound');
    const asked = await terminal.sees('touch a1 && mkdir b1');
    expect(asked).toContain('│ always: Bash(touch a1)');
    expect(asked).toContain('│ always: Bash(mkdir b1)');
    terminal.press('Tab');
    await terminal.sees('esc later');
    terminal.press('Escape');
    await terminal.sees('tab to focus');
    // While it waits, the user can look at something else.
    await run(terminal, '/usage');
    await terminal.sees('Usage of this conversation');
    expect(terminal.screen()).toContain('touch a1 && mkdir b1');
    await answer(terminal, 'y');
    await terminal.sees('Done with: compound.');
    expect(existsSync(join(world.sandbox.workspace, 'b1'))).toBe(true);
  },
);

inTerminal(
  'a wider mode releases what it covers, and a mode that is passed through nothing',
  async () => {
    await using world = await openWorld({ script });
    using terminal = await openTerminal(world);
    await send(terminal, 'touch passed');
    await terminal.sees('asks to run Bash');
    // Over acceptEdits, autonomous and plan back to default.
    terminal.press('BTab', 'BTab', 'BTab', 'BTab');
    await terminal.sees('[default]');
    await readQuestion();
    expect(terminal.screen()).toContain('asks to run Bash');
    expect(existsSync(join(world.sandbox.workspace, 'passed'))).toBe(false);
    await answer(terminal, 'n');
    await terminal.sees('the user said no to Bash touch passed');
    await send(terminal, 'write');
    await terminal.sees('asks to run Write');
    await run(terminal, '/permissions');
    await terminal.sees('▶ mode');
    terminal.press('Enter');
    await terminal.sees('acceptEdits');
    terminal.type('acceptE');
    await terminal.sees('▶ acceptEdits');
    terminal.press('Enter');
    await terminal.sees('Done with: write.');
    expect(existsSync(join(world.sandbox.workspace, 'w.txt'))).toBe(true);
  },
);

inTerminal('a refusal is visible where it happened, and a reason is an instruction', async () => {
  await using world = await openWorld({ script });
  const { model } = world;
  using terminal = await openTerminal(world);
  await send(terminal, 'one child');
  await terminal.sees('“part z” asks to run Bash');
  await answer(terminal, 'n');
  const refused = await terminal.sees('Done with: one child.');
  // The child completed its work, but not with a green tick, and its parent reads why.
  expect(refused).toMatch(/⊘ Task general-purpose: part z/);
  expect(refused).not.toMatch(/✓ Task/);
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain(
    'The user said no to: Bash touch made',
  );
  await send(terminal, 'touch reasoned');
  await terminal.sees('asks to run Bash');
  await answer(terminal, 'r');
  await terminal.sees('why not?');
  await send(terminal, 'use another name');
  await terminal.sees('Done with: touch reasoned.');
  expect(terminal.screen()).toContain('> no: use another name');
  const [result] = model.requests.at(-1)?.messages.at(-1)?.toolResults ?? [];
  expect(result?.text).toContain('use another name');
});

inTerminal(
  'a child that was refused has no green tick in the tree, in blocks and in lists',
  async () => {
    const two = (request: RecordedRequest): Answer => {
      const said = typedText(request);
      if (!isChild(request)) {
        if (roundsOf(request) > 0) return { text: 'Over.' };
        return { toolCalls: [delegate('refused part'), delegate('endless part')] };
      }
      if (said.includes('endless')) return { delayMs: 60_000, text: 'late' };
      return toolResultRounds(request) > 0
        ? { text: 'Went on.' }
        : { toolCalls: [bash('touch made')] };
    };
    await using world = await openWorld({ script: two });
    using terminal = await openTerminal(world);
    await send(terminal, 'two');
    await terminal.sees('“refused part” asks to run Bash');
    await answer(terminal, 'r');
    await terminal.sees('why not?');
    await send(terminal, 'make no files');
    const tree = await terminal.sees(
      /⊘ general-purpose \w+ refused part · completed, 1 call refused/,
    );
    expect(tree).not.toContain('✓');
    await terminal.sees('● 2 × general-purpose: 1 refused, 1 at work · refused part, endless part');
    const told = world.model.requests.findLast(
      (each) => isChild(each) && toolResultRounds(each) > 0,
    );
    expect(told?.messages.at(-1)?.toolResults[0]?.text).toContain('make no files');
    await run(terminal, '/tasks');
    await terminal.sees('enter opens');
    const list = await terminal.sees(/⊘ .*refused part/);
    expect(list).not.toContain('✓');
    terminal.press('Escape');
    await terminal.sees('esc stop');
    terminal.press('Escape');
    // The block stays in the conversation after its end.
    const ended = await terminal.sees(/. 2 × general-purpose: 1 refused, 1 stopped/);
    expect(ended).not.toContain('✓');
  },
);

inTerminal('Enter answers only when it is pressed twice, or the chosen answer', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  const made = (name: string): boolean => existsSync(join(world.sandbox.workspace, name));
  await send(terminal, 'touch twice');
  await terminal.sees('y once');
  await readQuestion();
  terminal.press('Enter');
  await terminal.sees('enter again allows it once, n refuses it');
  expect(terminal.screen()).toContain('▶ y once');
  expect(made('twice')).toBe(false);
  await readQuestion();
  terminal.press('Enter');
  await terminal.sees('Done with: touch twice.');
  expect(made('twice')).toBe(true);
  await send(terminal, 'touch never');
  await terminal.sees('y once');
  await answer(terminal, 'Right');
  await terminal.sees('▶ n no');
  terminal.press('Enter');
  await terminal.sees('the user said no to Bash touch never');
  expect(made('never')).toBe(false);
});

inTerminal('at most two keys answer twelve children', async () => {
  const many = (request: RecordedRequest): Answer => {
    if (isChild(request)) {
      if (toolResultRounds(request) > 0) return { text: 'Touched.' };
      return { toolCalls: [bash(`touch made-${/file (\d+)/.exec(typedText(request))?.[1]}`)] };
    }
    if (toolResultRounds(request) > 0) return { text: 'All are done.' };
    const calls = Array.from({ length: 12 }, (_, index) => delegate(`file ${index}`));
    return { toolCalls: calls };
  };
  await using world = await openWorld({ script: many });
  using terminal = await openTerminal(world);
  await send(terminal, 'twelve');
  await terminal.sees('answer all 12 similar alike');
  await answer(terminal, 'A');
  // On this small screen, what the answer is for is scrolled into view.
  await terminal.sees('only this one');
  await readQuestion();
  terminal.press('y');
  await terminal.sees('All are done.');
  const made = (index: number): boolean =>
    existsSync(join(world.sandbox.workspace, `made-${index}`));
  expect(Array.from({ length: 12 }, (_, index) => made(index))).not.toContain(false);
});
