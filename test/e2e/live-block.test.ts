import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

/** Two children at once, the second one slower, and then the answer. */
function script(request: RecordedRequest): Answer {
  const said = JSON.stringify(request.messages);
  if (request.system.includes('subagent of Muster')) {
    return { delayMs: said.includes('slow work') ? 3_000 : 1_500, text: 'It is done.' };
  }
  if (toolResultRounds(request) > 0) return { text: 'Both are done.' };
  const call = (prompt: string) => ({
    name: 'Task',
    input: { prompt, description: prompt, subagent_type: 'Explore' },
  });
  return { toolCalls: [call('fast work'), call('slow work')] };
}

it.runIf(needs('tmux', 'tmux'))(
  'a headless run on a terminal has a line for each task at work, and leaves none behind',
  async () => {
    await using world = await openWorld({ script });
    const { sandbox, model } = world;
    const env = model.env('anthropic');
    using terminal = new TmuxTerminal(sandbox, ['-p', 'Do both'], { env, size: [60, 20] });
    await terminal.sees(/^● Explore \w{6} .*fast work\n● Explore \w{6} .*slow work/m);
    terminal.resize(40, 20);
    await terminal.sees(/✓ Explore \w+: 1 turn[^●]*\n● Explore \w{6} [^\n]*\n*$/);
    const end = await terminal.sees('exit 0');
    expect(end).toContain('Both are done.');
    expect(end).not.toContain('●');
  },
);
