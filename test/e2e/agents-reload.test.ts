import { describe, expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld } from './world.ts';

const FILE = '.claude/agents/tester.md';
const definition = (prompt: string): string =>
  `---\nname: tester\ndescription: Tests.\ntools: Read\n---\n${prompt}\n`;

/** Longer than Muster goes without a look at the files. */
const NEXT_LOOK_MS = 2_300;

const task = (id: string, type = 'tester') => ({
  name: 'Task',
  input: { description: id, prompt: `${id}: test`, subagent_type: type },
});

const isChild = ({ system }: RecordedRequest): boolean => system.startsWith('You are a subagent');

describe.concurrent('agent files that change while Muster runs', () => {
  it('have an effect on tasks that start later, also when they are new; a task at work keeps its definition', async () => {
    const world = await openWorld({
      files: { '.git/HEAD': '', [FILE]: definition('FIRST-PROMPT'), 'a.txt': 'one' },
      script: (request) => {
        const text = JSON.stringify(request.body);
        const rounds = toolResultRounds(request);
        if (isChild(request) && text.includes('one: test')) {
          // The first child: a second turn after the file has changed.
          if (rounds > 0) return { text: 'first done' };
          world.sandbox.write(FILE, definition('SECOND-PROMPT'));
          const extra = definition('EXTRA-PROMPT').replace('tester', 'extra');
          world.sandbox.write('.claude/agents/extra.md', extra);
          const toolCalls = [{ name: 'Read', input: { file_path: 'a.txt' } }];
          return { toolCalls, delayMs: NEXT_LOOK_MS };
        }
        if (isChild(request)) return { text: 'child done' };
        if (rounds === 0) return { toolCalls: [task('one')] };
        if (rounds === 1) return { toolCalls: [task('two'), task('three', 'extra')] };
        return { text: 'all done' };
      },
    });
    await using _ = world;
    const { stdout, stderr, code } = await world.run(['-p', 'go', '--trust-project']);
    expect([stdout.trim(), code]).toEqual(['all done', 0]);
    expect(stderr).toContain('agent files have changed and were read again');
    const prompts = world.model.requests
      .map(({ body }) => JSON.stringify(body))
      .map((text) => /(?:FIRST|SECOND|EXTRA)-PROMPT/.exec(text)?.[0] ?? 'main');
    expect(prompts.filter((each) => each === 'FIRST-PROMPT')).toHaveLength(2);
    expect(prompts.filter((each) => each === 'SECOND-PROMPT')).toHaveLength(1);
    expect(prompts.filter((each) => each === 'EXTRA-PROMPT')).toHaveLength(1);
  });

  it('of a project are not used until their present content is trusted', async () => {
    const world = await openWorld({
      files: { '.git/HEAD': '', [FILE]: definition('FIRST-PROMPT') },
      script: (request) => {
        if (isChild(request)) {
          world.sandbox.write(FILE, definition('SECOND-PROMPT'));
          return { text: 'child done', delayMs: NEXT_LOOK_MS };
        }
        const rounds = toolResultRounds(request);
        return rounds < 2 ? { toolCalls: [task(`${rounds}`)] } : { text: 'all done' };
      },
    });
    await using _ = world;
    await world.run(['trust', 'add', '--yes']);
    const { stderr } = await world.run(['-p', 'go']);
    expect(stderr).toContain('1 changed since you did');
    const last = JSON.stringify(world.model.requests.at(-1)?.body);
    expect(last).toContain('There is no agent `tester`');
    expect(JSON.stringify(world.model.requests.map(({ body }) => body))).not.toContain(
      'SECOND-PROMPT',
    );
  });
});
