import { describe, expect, it } from 'vitest';
import { redactAgent } from '../../../src/engine/delegation/create-task.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import { calls, call, eventsOfType, play } from '../play.ts';
import { testEngine, WORKER } from '../support.ts';

const SECRET = 'correct horse battery staple';
const keeper: AgentDefinition = {
  ...WORKER,
  name: 'keeper',
  extra: {
    mcp_servers: { db: { command: SECRET, args: [SECRET, 5], env: { PIN: 1234 }, on: true } },
    hooks: null,
  },
};

describe('the definition in a log', () => {
  it('names the fields without effect, and contains none of their texts', async () => {
    const test = testEngine(play({ root: [calls(call('Task', { prompt: 'x' }))] }), {
      agent: keeper,
      agents: [keeper, WORKER],
    });
    await test.start('root').end.written;
    expect(JSON.stringify(test.events)).not.toContain(SECRET);
    const [created] = eventsOfType(test, 'task.created');
    expect(created?.spec.agent).toEqual({
      ...keeper,
      extra: {
        mcp_servers: {
          db: { command: REDACTED, args: [REDACTED, REDACTED], env: { PIN: REDACTED }, on: true },
        },
        hooks: null,
      },
    });
  });

  it('is the definition itself if nothing has to be removed, and is otherwise built once', () => {
    expect(redactAgent(WORKER)).toBe(WORKER);
    expect(redactAgent(keeper)).toBe(redactAgent(keeper));
  });
});
