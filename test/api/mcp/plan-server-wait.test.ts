import { describe, expect, test } from 'vitest';
import { placeOwnServers } from '../../../src/api/mcp/definition-servers.ts';
import { planServerWait, type ServerMoment } from '../../../src/api/mcp/plan-server-wait.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import type { ToolSelection } from '../../../src/protocol/agent.ts';

/** An agent with a list of tools. */
const agentWith = (tools: ToolSelection, disallowedTools: readonly string[] = []) => ({
  ...MAIN_AGENT,
  tools,
  disallowedTools,
});
const allow = (...names: readonly string[]) => agentWith({ mode: 'allow', names });
const ALL = MAIN_AGENT;
const UNKNOWN = ['demo', 'my_wiki'];

describe('the servers that are asked', () => {
  test.each([
    ['all tools', ALL, ['demo', 'my_wiki']],
    ['no tools', allow(), []],
    ['other tools', allow('Read', 'Task'), []],
    ['a tool of a server', allow('mcp__demo__echo'), ['demo']],
    ['a server', allow('mcp__demo'), ['demo']],
    ['a server with a similar name', allow('mcp__dem__x', 'mcp__my__wiki'), []],
    ['all servers', allow('mcp__*'), ['demo', 'my_wiki']],
    ['a pattern of servers', allow('mcp__d*__x'), ['demo']],
    ['all but a server', agentWith({ mode: 'deny', names: ['mcp__demo'] }), ['my_wiki']],
    ['all but a tool of it', agentWith({ mode: 'deny', names: ['mcp__demo__echo'] }), UNKNOWN],
    ['no server', agentWith({ mode: 'all', names: [] }, ['mcp__*']), []],
  ])('for an agent with %s', (_, agent, asked) => {
    expect(planServerWait({ kind: 'spawn', agent }, UNKNOWN).asked).toEqual(asked);
  });
});

describe('servers', () => {
  const open = (isAttended: boolean, agent: ServerMoment['agent'] = ALL) =>
    ({ kind: 'open', isAttended, agent }) as const;
  const waits = { asked: UNKNOWN, waits: true, isAnnounced: true };
  const nothing = { asked: [], waits: false, isAnnounced: false };
  test.each<[string, ServerMoment, ReturnType<typeof planServerWait>]>([
    ['are waited for when a run without a person starts', open(false), waits],
    [
      'are asked in the background before a person types',
      open(true),
      { ...waits, waits: false, isAnnounced: false },
    ],
    ['are not asked if no task begins', open(false, null), nothing],
    ['are not asked if no task begins in the terminal UI', open(true, null), nothing],
    ['are not asked if the agent may not use them', open(false, allow('Read')), nothing],
    [
      'are waited for at the first message of a person',
      { kind: 'start', agent: ALL },
      { ...waits, isAnnounced: false },
    ],
    [
      'are waited for at a resume if the task has their tools',
      { kind: 'resume', agent: allow('mcp__demo__echo') },
      { ...waits, asked: ['demo'] },
    ],
    ['are waited for before a child is created', { kind: 'spawn', agent: ALL }, waits],
  ])('%s', (_, moment, wait) => {
    expect(planServerWait(moment, UNKNOWN)).toEqual(wait);
  });

  test('that are known are not asked', () => {
    expect(planServerWait({ kind: 'spawn', agent: ALL }, [])).toEqual(nothing);
  });
});

describe('a name of a server of a definition that a configured one has, too', () => {
  const configured = [
    { part: 'mine', isOfProject: false },
    { part: 'shared', isOfProject: true },
  ];
  test.each([
    ['the user', 'mine', true, [], ['mine']],
    ['the user', 'shared', true, ['shared'], []],
    ['the project', 'mine', false, [], ['mine']],
    ['the project', 'shared', false, [], ['shared']],
    ['the project', 'other', false, [], []],
  ])('in a definition of %s: %s', (_, part, isOfUser, hiddenConfigured, hiddenOwn) => {
    expect(placeOwnServers(configured, [part], { isOfUser })).toEqual({
      hiddenConfigured: new Set(hiddenConfigured),
      hiddenOwn: new Set(hiddenOwn),
    });
  });
});
