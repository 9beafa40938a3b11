import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { bash, openWorld } from '../e2e/world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import {
  configure,
  delegate,
  inTerminal,
  isChild,
  openLines,
  roundsOf,
  say,
  typedText,
} from './story.ts';

const EXPLORE = { prompt: 'explore', description: 'read the project', subagent_type: 'Explore' };

/** The calls of the main agent, one message after another, by the first word of the message of the user. */
const CALLS: Readonly<Record<string, readonly Answer[]>> = {
  background: [{ toolCalls: [delegate('look', 'look around', { run_in_background: true })] }],
  serve: [
    {
      toolCalls: [
        { name: 'Bash', input: { command: 'echo up; sleep 600', run_in_background: true } },
      ],
    },
    { delayMs: 60_000, text: 'late' },
  ],
  write: [{ toolCalls: [{ name: 'Write', input: { file_path: 'w.txt', content: 'w\n' } }] }],
  touch: [{ toolCalls: [bash('touch made')] }],
  Write: [
    { toolCalls: [{ name: 'Task', input: EXPLORE }] },
    { toolCalls: [{ name: 'Write', input: { file_path: 'AGENTS.md', content: '# Project\n' } }] },
  ],
};

function script(request: RecordedRequest): Answer {
  const said = typedText(request);
  if (isChild(request)) {
    return { text: said.includes('once more') ? 'Looked once more.' : 'The child has looked.' };
  }
  if (said.includes('overloaded') && request.attempt < 3) {
    return { fault: { kind: 'status', status: 529, retryAfterSeconds: 1 } };
  }
  if (said.includes('endless')) return { delayMs: 60_000, text: 'late' };
  if (said.includes('long')) return { delayMs: 10_500, text: 'It took long.' };
  if (said.includes('think')) return { thinking: 'I think deeply.', text: 'Thought.' };
  const calls = CALLS[said.split(' ')[0] ?? ''] ?? [];
  return calls[roundsOf(request)] ?? { text: `Over: ${said.split('\n')[0]?.slice(0, 30)}.` };
}

inTerminal('plain lines have a page for each list, and the choices are arguments', async () => {
  await using world = await openWorld({ script });
  await world.run(['-p', 'Explain the cache']);
  using terminal = await openLines(world, { args: ['--screen-reader', '--resume', 'zzzz'] });
  await terminal.sees('there is no conversation zzzz: choose one');
  const listed = await terminal.sees('Explain the cache');
  const [, id = ''] = / (\w+) .*Explain the cache/.exec(listed) ?? [];
  await say(terminal, `/resume ${id}`, 'Over: Explain the cache.');
  await say(terminal, 'second', 'Over: second.');
  await say(
    terminal,
    '/resume zzzz',
    /there is no conversation zzzz: choose one[^]*Conversations here/,
  );
  await say(terminal, '/model', /providers:/);
  await say(terminal, '/model anthropic/nonsense-9', /no provider has a model/);
  await say(terminal, '/model anthropic/fake-model', 'from the next message on');
  await say(terminal, '/agents', /Agents:[^]*Explore/);
  await say(terminal, '@Explore look', 'Ready.');
  await say(terminal, '/tasks', /Tasks: 2\n[^]*Explore: completed/);
  await say(terminal, '/undo', 'go back to before this message?');
  await say(terminal, 'y', /taken back: @Explore look/);
  // The line that was typed last is one key away.
  terminal.press('Up', 'Up');
  await terminal.sees(/> \/undo$/m);
  terminal.press('C-c');
  await say(terminal, '/help', 'suspend Muster');
  await say(terminal, '?', 'suspend Muster');
  await say(terminal, '/cst', 'did you mean /cost?');
  await say(terminal, '/hooks', 'runs no hooks');
  await say(terminal, '/mcp', /mcp/i);
  await say(terminal, '/clear', 'continues the conversation above');
  await say(terminal, 'exit', 'exit 0');
});

inTerminal('settings, rules, notes, exports and thinking in plain lines', async () => {
  await using world = await openWorld({ script });
  const { sandbox } = world;
  writeFileSync(join(sandbox.workspace, 'AGENTS.md'), '# Rules\n');
  using terminal = await openLines(world);
  await say(terminal, '/status', /version +\d/);
  await say(terminal, '/config terminal.notify bell', /terminal\.notify/);
  await say(terminal, '/theme light', 'plain lines have no colors');
  await say(terminal, 'think', 'Thought.');
  expect(terminal.screen()).not.toContain('deeply');
  await say(terminal, '/thinking full', 'thinking: full');
  await say(terminal, 'think again', /Thinking: I think deeply\.\nThought\./);
  await say(terminal, '/export talk.html', 'the conversation is in');
  expect(readFileSync(join(sandbox.workspace, 'talk.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  // Plain lines write no sequences for the clipboard of the terminal.
  await say(terminal, '/copy', 'not copied (8 bytes): install wl-copy or xclip, or use /export');
  await say(terminal, '# use tabs', 'AGENTS.md; new conversations');
  expect(readFileSync(join(sandbox.workspace, 'AGENTS.md'), 'utf8')).toContain('- use tabs');
  await say(terminal, '/memory', 'edit the files in your editor');
  await say(terminal, '/permissions deny Bash(rm:*)', /Bash\(rm:\*\) is now denied/);
  await say(terminal, '/permissions', /deny +Bash\(rm:\*\)/);
  // A paste of several lines is one message, and answers nothing.
  await say(terminal, 'touch', 'Type y for once');
  terminal.paste('y\nof a paste\n');
  await terminal.sees(/of a paste\n> *$/m);
  expect(existsSync(join(sandbox.workspace, 'made'))).toBe(false);
  await say(terminal, 'n', 'the user said no to Bash');
  // A wider mode releases the question that it covers.
  await say(terminal, 'write', 'Type y for once');
  await say(terminal, '/permissions mode acceptEdits', 'Over: write.');
  expect(existsSync(join(sandbox.workspace, 'w.txt'))).toBe(true);
  await say(terminal, '/permissions', 'Permissions: mode acceptEdits');
});

inTerminal('children and shells in the background have lines in plain lines', async () => {
  await using world = await openWorld({ script });
  using terminal = await openLines(world, { args: ['--screen-reader', '--allow', 'Bash'] });
  const begun = await say(
    terminal,
    'background',
    /Task \w+ general-purpose completed after .*: The child has looked\./,
  );
  expect(begun).toMatch(/Task \w+ general-purpose begins in the background: look around/);
  const [, id = ''] = /Task (\w+) general-purpose begins/.exec(begun) ?? [];
  await say(terminal, `/task-status ${id}`, /look around/);
  await say(terminal, 'serve', 'Bash: echo up; sleep 600');
  // The shell has started once the model reads its id.
  await waitUntilPasses(() => {
    const last = world.model.requests.at(-1);
    expect(last === undefined ? 0 : roundsOf(last)).toBe(1);
  });
  const shells = await say(
    terminal,
    '/shells',
    /Background shells: 1\n[^]*running[^]*echo up; sleep 600\n/,
  );
  const [, shell = ''] = /(\w+) running/.exec(shells) ?? [];
  await say(terminal, `/shells ${shell}`, /Shell \w+: echo up; sleep 600\n {2}up/);
  await say(terminal, `/shells stop ${shell}`, /stopped|stopping/);
  terminal.type('and this');
  terminal.press('Enter');
  await terminal.sees('and this');
  await say(terminal, '/take-back', 'taken back: and this');
  // Ctrl+C clears the line, then stops the turn, and leaves at last.
  terminal.type('half a line');
  await terminal.sees('half a line');
  terminal.press('C-c');
  await terminal.sees(/^> *$/m);
  terminal.press('C-c');
  await terminal.sees('Stopping the turn. Press Ctrl+C again to leave; everything can be resumed.');
  await terminal.sees('It stopped');
  terminal.press('C-c');
  await terminal.sees(/muster --resume \w+[^]*exit 0/);
});

inTerminal('long work, its end and retries are told in plain lines, and ring', async () => {
  await using world = await openWorld({ script });
  configure(world, '[terminal]\nnotify = "notify"\n');
  using terminal = await openLines(world, { env: { KITTY_WINDOW_ID: '1' } });
  const written = join(world.sandbox.root, 'written');
  terminal.record(written);
  await say(terminal, 'overloaded', /Warning: [^]*: try 2 of \d+[^]*Warning: [^]*: try 3 of/);
  await terminal.sees('Over: overloaded.');
  expect(readFileSync(written, 'utf8')).not.toContain('\u001b]99;');
  await say(terminal, 'work long', 'It took long.');
  await terminal.sees(/It worked for 1\d s/);
  await waitUntilPasses(() => expect(readFileSync(written, 'utf8')).toContain('\u001b]99;'));
});

inTerminal(
  '/init works in plain lines, and what needs a secret or a review names its command',
  async () => {
    await using world = await openWorld({
      script,
      files: { '.muster/config.toml': '[permissions]\nallow = ["Bash(make)"]\n' },
    });
    const { sandbox, model } = world;
    using terminal = new TmuxTerminal(sandbox, ['--screen-reader'], {
      env: model.env('anthropic'),
      size: [80, 24],
    });
    const start = await terminal.sees(/^>/m);
    expect(start.replaceAll('\n', '')).toContain('then `muster trust add`');
    await say(terminal, '/permissions mode acceptEdits', 'permission mode: acceptEdits');
    await say(terminal, '/init', 'Over: Write AGENTS.md');
    expect(readFileSync(join(sandbox.workspace, 'AGENTS.md'), 'utf8')).toBe('# Project\n');
    expect(terminal.screen()).toMatch(/Task \w+ Explore begins: read the project/);
    await say(terminal, '/login', 'type muster login in another terminal, then /restart here');
    await say(terminal, '/trust', 'type muster trust add in another terminal, then /restart here');
  },
);
