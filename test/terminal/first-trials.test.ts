import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { bash, openWorld } from '../e2e/world.ts';
import {
  configure,
  inTerminal,
  isChild,
  openLines,
  openTerminal,
  readQuestion,
  roundsOf,
  run,
  say,
  send,
  typedText,
} from './story.ts';

const QUIET = {
  name: 'Task',
  input: { prompt: 'watch', description: 'watch the build', subagent_type: 'watcher' },
};
const WHICH = {
  name: 'AskUser',
  input: { question: 'Which rounding?', options: ['half up', 'half to even', 'down'] },
};

/** The main agent asks, or has a child run a command that writes a line and then nothing more. */
function script(request: RecordedRequest): Answer {
  if (isChild(request)) {
    if (toolResultRounds(request) > 0) return { text: 'It was watched.' };
    return { toolCalls: [bash('echo begun; sleep 600')] };
  }
  const said = typedText(request);
  if (roundsOf(request) === 0 && said.startsWith('which')) return { toolCalls: [WHICH] };
  if (roundsOf(request) === 0 && said === 'watch') return { toolCalls: [QUIET] };
  const [result] = request.messages.at(-1)?.toolResults ?? [];
  return { text: `Over: ${result?.text ?? said}` };
}

inTerminal('arrow keys and Enter choose an answer of the model, without Tab', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  await send(terminal, 'which');
  await terminal.sees('└ ↑ ↓ or 1–3 choose · t type an answer · tab to focus');
  await readQuestion();
  terminal.press('Down', 'Down');
  await terminal.sees('│ ▶ 2  half to even');
  terminal.press('Enter');
  await terminal.sees(/Over: .*half to even/);
  // Digits and typed answers are as before.
  await send(terminal, 'which again');
  await terminal.sees('│ 3  down');
  await readQuestion();
  terminal.press('3');
  await terminal.sees(/Over: .*down/);
  await send(terminal, 'which once more');
  await terminal.sees('│ 3  down');
  await readQuestion();
  terminal.press('Up');
  await terminal.sees('│ ▶ 1  half up');
  terminal.type('none of them');
  await terminal.sees('your answer, below: enter sends it');
  terminal.press('Enter');
  await terminal.sees(/Over: .*none of them/);
});

inTerminal(
  'the start screen names the last conversation while that is new to the user',
  async () => {
    await using world = await openWorld({ script });
    {
      using terminal = await openTerminal(world);
      await terminal.sees('bwrap');
      await send(terminal, 'Explain the cache');
      await terminal.sees('Over: Explain the cache');
      expect(terminal.screen()).not.toContain('/resume');
    }
    await world.run(['-p', 'Fix the retries']);
    {
      using terminal = await openTerminal(world);
      await terminal.sees('/resume continues “Fix the retries” (just now) or another one');
      await run(terminal, '/resume');
      await terminal.sees(/▶ . Fix the retries[^]*Explain the cache/);
    }
    {
      using lines = await openLines(world);
      await lines.sees('/resume continues “Fix the retries” (just now) or another one');
      // The user does this often.
      for (let count = 0; count < 5; count += 1)
        await say(lines, '/resume', 'Conversations here: 2');
    }
    using terminal = await openTerminal(world);
    await terminal.sees('bwrap');
    await readQuestion();
    expect(terminal.screen()).not.toContain('/resume');
  },
);

inTerminal(
  'a quiet command of an opened child, its stop, and a cost without a price of the child',
  async () => {
    await using world = await openWorld({ script });
    const agents = join(world.sandbox.home, '.config/muster/agents');
    mkdirSync(agents, { recursive: true });
    writeFileSync(
      join(agents, 'watcher.md'),
      '---\nname: watcher\ndescription: watches\ntools: Bash\nmodel: anthropic/fake-model\n---\nWatch.\n',
    );
    configure(world, '[permissions]\nallow = ["Bash"]\n');
    using terminal = await openTerminal(world);
    await send(terminal, 'watch');
    await terminal.sees(/watcher \w+ watch the build · Bash/);
    // The command has written its only line by now.
    await readQuestion();
    terminal.press('C-t', 'Enter');
    const opened = await terminal.sees(/← watcher \w+: watch the build/);
    expect(opened).toMatch(/● Bash echo begun; sleep 600[^]*\n {2}begun\n/);
    terminal.press('Escape');
    await terminal.sees('esc stop');
    terminal.press('C-t');
    const tree = await terminal.sees(/▶ +● watcher/);
    expect(tree).toMatch(/workspace · .* · \[default\] +enter open · s stop/);
    terminal.press('s');
    await terminal.sees(/Over: /);
    const ended = await terminal.sees('shift+tab mode');
    expect(ended).not.toContain('stopping the task');
    expect(ended).toMatch(/workspace · .* · \$0\.\d+\+ · \[default\]/);
    // The editor has the keys again.
    await send(terminal, 'so what');
    await terminal.sees('Over: so what');
  },
);

inTerminal('/editor opens a text in the editor of the user and takes it back', async () => {
  await using world = await openWorld({ script });
  const EDITOR = join(world.sandbox.root, 'editor.sh');
  writeFileSync(EDITOR, '#!/bin/sh\nprintf "%s\\nsecond line\\n" "$(cat "$1")" > "$1"\n', {
    mode: 0o755,
  });
  using terminal = await openTerminal(world, { env: { EDITOR } });
  await send(terminal, '/editor a draft');
  await terminal.sees(/^a draft *\n *second line *$/m);
  terminal.press('Enter');
  await terminal.sees('Over: a draft');
});
