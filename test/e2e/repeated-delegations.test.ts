import { describe, expect, it } from 'vitest';
import {
  firstUserText,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld } from './world.ts';

const SAME: AnswerToolCall = {
  name: 'Task',
  input: { prompt: 'Find the cause.', subagent_type: 'general-purpose' },
};
const DEEP = { MUSTER_TASK_TOOL_MAX_DEPTH: '8', MUSTER_TASK_TOOL_NESTED: 'true' };
const RUN = ['-p', 'go', '--output-format', 'stream-json'] as const;

const always =
  (call: AnswerToolCall) =>
  ({ toolChoice }: RecordedRequest): Answer =>
    toolChoice === 'none' ? { text: 'I found nothing.' } : { toolCalls: [call] };

describe.concurrent('a model that always repeats the same delegation', () => {
  it.each(['anthropic', 'responses', 'chat', 'google'] as const)(
    'is stopped after few requests at every depth, over %s, with the reason',
    async (protocol) => {
      await using world = await openWorld({ protocol, script: always(SAME) });
      const run = await world.run([...RUN], { env: DEEP });
      expect([run.code, world.model.requests.length]).toEqual([3, 29]);
      expect(eventsOf(run).filter(({ type }) => type === 'child.created').length).toBe(5);
      expect(envelopeOf(run)).toMatchObject({
        status: 'partial',
        data: { result: 'I found nothing.' },
        error: {
          code: 'LIMIT_EXCEEDED',
          message: 'the limit same_delegations = 5 is reached (5 used)',
        },
      });
    },
  );

  it('is stopped as well if it calls a skill that runs as a task', async () => {
    await using world = await openWorld({
      files: {
        '.muster/skills/dig/SKILL.md':
          '---\nname: dig\ndescription: Digs.\ncontext: fork\n---\nDig for the cause.\n',
      },
      script: (request) =>
        firstUserText(request).includes('Dig')
          ? { text: 'nothing' }
          : always({ name: 'Skill', input: { skill: 'dig' } })(request),
    });
    const run = await world.run([...RUN, '--trust-project']);
    expect(eventsOf(run).filter(({ type }) => type === 'child.created').length).toBe(5);
    // Five rounds, three refusals and a last word of the main agent, and its five children.
    expect([run.code, world.model.requests.length]).toEqual([3, 14]);
  });

  it('is still recognized after kill -9 and --continue', async () => {
    let hangs = true;
    await using world = await openWorld({
      script: (request) => {
        if (firstUserText(request).startsWith('Find')) return { text: 'nothing' };
        const rounds = request.messages.filter(({ toolResults }) => toolResults.length > 0).length;
        return hangs && rounds === 3 ? { fault: { kind: 'hang' } } : always(SAME)(request);
      },
    });
    const first = world.start(['-p', 'go']);
    await world.model.received(7);
    first.process.kill('SIGKILL');
    await first.finished;
    hangs = false;
    const again = await world.run(['--continue', '--output-format', 'stream-json']);
    const made = eventsOf(again).filter(({ type }) => type === 'child.created');
    expect([again.code, made.length]).toEqual([3, 2]);
    expect(envelopeOf(again).error?.message).toContain('same_delegations = 5');
  });

  it('may try again a few times if its child fails', async () => {
    let tries = 0;
    await using world = await openWorld({
      script: (request) => {
        if (firstUserText(request).startsWith('Find')) {
          tries += 1;
          return tries < 5 ? { fault: { kind: 'status', status: 400 } } : { text: 'found' };
        }
        const told = request.messages.flatMap(({ toolResults }) => toolResults);
        return told.some(({ text }) => text.includes('found')) && tries === 5
          ? { text: 'It is found.' }
          : { toolCalls: [SAME] };
      },
    });
    const run = await world.run([...RUN]);
    expect([run.code, envelopeOf(run).data.result, tries]).toEqual([0, 'It is found.', 5]);
  });
});
