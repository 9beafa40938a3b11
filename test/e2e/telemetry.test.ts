import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { Receiver } from '../telemetry/receiver.ts';
import { findOrphans, toSpanTrees } from '../telemetry/span-tree.ts';
import { openWorld } from './world.ts';

function isChild(request: RecordedRequest): boolean {
  return lastUserText(request).startsWith('part');
}

const READ = { name: 'Read', input: { file_path: 'a.txt' } };
const EXPLORE = { name: 'Task', input: { prompt: 'part 1', subagent_type: 'Explore' } };

describe('a run with a subagent', () => {
  it('exports the tree of its tasks as one tree of spans', async () => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({
      files: { 'a.txt': 'alpha' },
      script: (request) => {
        const rounds = toolResultRounds(request);
        if (isChild(request)) return rounds === 0 ? { toolCalls: [READ] } : { text: 'alpha' };
        return rounds === 0 ? { toolCalls: [EXPLORE] } : { text: 'The child is done.' };
      },
    });
    const { code, stderr } = await world.run(['-p', 'go'], { env: receiver.env });
    expect([code, stderr]).toEqual([0, '']);
    const chat = (model: string) => ({ name: `chat ${model}`, children: [] });
    expect(toSpanTrees(receiver.spans)).toEqual([
      {
        name: 'invoke_agent main',
        children: [
          chat('claude-sonnet-5'),
          chat('claude-sonnet-5'),
          {
            name: 'execute_tool Task',
            children: [
              {
                name: 'invoke_agent Explore',
                children: [
                  chat('claude-haiku-4-5'),
                  chat('claude-haiku-4-5'),
                  { name: 'execute_tool Read', children: [] },
                ],
              },
            ],
          },
        ],
      },
    ]);
    expect(findOrphans(receiver.spans)).toEqual([]);
    expect(receiver.faults).toEqual([]);
  });
});

describe('the log file', () => {
  it('of --debug is in the data directory and has no content', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'alpha' },
      script: (request) =>
        toolResultRounds(request) === 0 ? { toolCalls: [READ] } : { text: 'SECRET-ANSWER' },
    });
    const path = join(world.sandbox.data, 'muster.log');
    await world.run(['-p', 'SECRET-PROMPT']);
    expect(existsSync(path)).toBe(false);
    const { code, stderr } = await world.run(['-p', 'SECRET-PROMPT', '--debug']);
    expect([code, stderr]).toEqual([0, `muster: debug log: ${path}\n`]);
    const text = readFileSync(path, 'utf8');
    expect(text).not.toMatch(/SECRET|alpha|a\.txt/);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const events = lines.map(({ level, event }) => `${level} ${event}`);
    expect([events[0], events.at(-1)]).toEqual(['info session.started', 'info session.ended']);
    expect(events).toEqual(
      expect.arrayContaining(['info task.created', 'debug call.ended', 'info task.ended']),
    );
  });
});
