import { describe, expect, it } from 'vitest';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { eventsOf } from './muster.ts';
import { openWorld } from './world.ts';

const FILES = {
  'src/retry.ts':
    '/** Waits. */\nexport function retryDelay(attempt: number) {\n  return attempt;\n}\n',
  'closed/retry.ts': 'export const retryDelaySecret = "lilac";\n',
  '.env': 'RETRY_DELAY=orchid\n',
  '.muster/agents/searcher.md':
    '---\nname: searcher\ndescription: Finds code\ntools: Read, FindPlaces\n---\n\nYou search.\n',
  '.muster/agents/reader.md':
    '---\nname: reader\ndescription: Reads code\ntools: Read, Grep\n---\n\nYou read.\n',
};

const ARGS = ['-p', 'go', '--trust-project', '--output-format', 'stream-json'];
const QUESTION = 'Where is the retry delay?';

/** The main agent asks one agent, which makes the calls of one message. */
function delegating(type: string, toolCalls: readonly AnswerToolCall[]) {
  return (request: RecordedRequest): Answer => {
    const isAsked = toolResultRounds(request) === 0;
    if (firstUserText(request).startsWith('small work')) {
      return isAsked && toolCalls.length > 0 ? { toolCalls } : { text: 'all done' };
    }
    const input = { prompt: 'small work', description: 'Small work', subagent_type: type };
    return isAsked ? { toolCalls: [{ name: 'Task', input }] } : { text: 'done' };
  };
}

const search = (input: AnswerToolCall['input']): AnswerToolCall => ({ name: 'FindPlaces', input });

function toolNames(requests: readonly RecordedRequest[], prompt: string): readonly string[] {
  const found = requests.find((request) => firstUserText(request).startsWith(prompt));
  return found?.tools.map(({ name }) => name) ?? [];
}

describe.concurrent('the code search', () => {
  it('is in the requests of an agent that asks for it by name', async () => {
    await using world = await openWorld({ files: FILES, script: delegating('searcher', []) });
    expect((await world.run(ARGS)).code).toBe(0);
    expect(toolNames(world.model.requests, 'small work')).toEqual(['Read', 'FindPlaces']);
    expect(toolNames(world.model.requests, 'go')).not.toContain('FindPlaces');
  });

  it('is in no request of an agent that does not', async () => {
    await using world = await openWorld({ files: FILES, script: delegating('reader', []) });
    expect((await world.run(ARGS)).code).toBe(0);
    expect(toolNames(world.model.requests, 'small work')).toEqual(['Read', 'Grep']);
  });

  it('answers with locations, and shows nothing of files that Read would refuse', async () => {
    const toolCalls = [
      search({ question: QUESTION }),
      search({ question: QUESTION, path: 'closed' }),
      search({ question: QUESTION, path: '.env' }),
      search({ question: QUESTION, path: '..' }),
    ];
    await using world = await openWorld({
      files: FILES,
      script: delegating('searcher', toolCalls),
    });
    const run = await world.run([...ARGS, '--deny', 'Read(closed/**)']);
    const ended = eventsOf(run).flatMap((event) =>
      event.type === 'call.ended' && event.tool === 'FindPlaces' ? [event.text] : [],
    );
    const refused = eventsOf(run).flatMap((event) =>
      event.type === 'call.refused' ? [[event.tool, event.error]] : [],
    );
    expect({ ended, refused }).toEqual({
      ended: [
        '1. `src/retry.ts:2`: defines `retryDelay`, with “retry”, “delay” close together, “retry” in its path.\n   > export function retryDelay(attempt: number) {',
      ],
      refused: Array.from({ length: 3 }, () => ['FindPlaces', 'PERMISSION_DENIED']),
    });
    const bodies = world.model.requests.map(({ rawBody }) => rawBody).join('\n');
    expect(bodies).toContain('export function retryDelay');
    expect(bodies).not.toMatch(/lilac|orchid/);
  });
});
