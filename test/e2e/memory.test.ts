import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { firstUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { runMuster } from './muster.ts';
import { openWorld, type World } from './world.ts';

const KEEPER = [
  '--agents',
  JSON.stringify({
    keeper: { description: 'k', prompt: 'You keep.', tools: 'Read', memory: 'project' },
  }),
];

/** The main agent lets the keeper do one thing, which adds a line to its notes. */
function script(request: RecordedRequest) {
  const round = toolResultRounds(request);
  if (firstUserText(request) === 'go') {
    const input = { subagent_type: 'keeper', prompt: 'keep' };
    return round === 0 ? { toolCalls: [{ name: 'Task', input }] } : { text: 'kept' };
  }
  const input = { file: 'ports', text: 'The server listens on 8080.' };
  return round === 0 ? { toolCalls: [{ name: 'MemoryAppend', input }] } : { text: 'kept' };
}

function promptOfKeeper({ model }: World): string {
  const request = model.requests.findLast((each) => firstUserText(each) === 'keep');
  return JSON.stringify(request?.body);
}

it('an agent finds in its next run what it wrote in the last one, once the user trusts the notes of that project', async () => {
  await using world = await openWorld({ files: { '.git/HEAD': '' }, script });
  const go = ['-p', 'go', '--permission-mode', 'plan', ...KEEPER];
  await world.run(go);
  const first = promptOfKeeper(world);
  await world.run(go);
  const untrusted = promptOfKeeper(world);
  const listed = await runMuster(world.sandbox, ['trust', 'list']);
  const added = await runMuster(world.sandbox, ['trust', 'add', '--yes']);
  await world.run(go);
  const trusted = promptOfKeeper(world);
  // It has changed since, by the agent's own hand.
  await world.run(go);
  const again = promptOfKeeper(world);
  const line = '- [ports.md](ports.md): The server listens on 8080.';
  expect([first, untrusted, trusted, again].map((prompt) => prompt.includes(line))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(first).toContain('No notes are there yet.');
  expect(
    [listed.stdout, added.stdout].map((text) =>
      text.includes('.muster/agent-memory/keeper/MEMORY.md'),
    ),
  ).toEqual([true, true]);
  const directory = join(world.sandbox.workspace, '.muster/agent-memory/keeper');
  expect(readFileSync(join(directory, 'ports.md'), 'utf8')).toBe(
    'The server listens on 8080.\n'.repeat(4),
  );
  expect((await runMuster(world.sandbox, ['trust', 'list'])).stdout).toMatch(/^trusted +memory /m);
});

it('an agent is explained, listed and checked with its notes', async () => {
  const files = {
    '.git/HEAD': '',
    '.claude/agents/keeper.md':
      '---\nname: keeper\ndescription: Use it to keep things.\ntools: Read\nmemory: local\n---\nYou keep.\n',
    '.claude/agents/wrong.md':
      '---\nname: wrong\ndescription: Use it to keep things.\nmemory: global\n---\nYou keep.\n',
    '.muster/agent-memory-local/keeper/MEMORY.md': 'Facts.\n',
  };
  await using world = await openWorld({ files });
  const muster = (...args: readonly string[]) =>
    runMuster(world.sandbox, [...args, '--trust-project']);
  const explained = await muster('agents', 'explain', 'keeper');
  const listed = await muster('agents', 'list', '--verbose');
  const checked = await runMuster(world.sandbox, ['agents', 'check']);
  const directory = join(world.sandbox.workspace, '.muster/agent-memory-local/keeper');
  expect(explained.stdout).toContain(`${directory} (local)`);
  expect(explained.stdout).toMatch(/tools +Read, MemoryList, MemoryRead, MemoryWrite/);
  expect(explained.stdout).toMatch(/^ +memory +\d+ bytes/m);
  expect(listed.stdout).toContain('keeps notes (local)');
  expect(checked.stdout).toContain('`memory` must be one of user, project, local; it is ignored.');
  expect(checked.stdout).not.toContain('has no effect in Muster yet');
  expect(existsSync(join(directory, '.locks'))).toBe(false);
});
