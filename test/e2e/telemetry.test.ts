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
