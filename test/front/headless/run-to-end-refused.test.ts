import { expect, test } from 'vitest';
import { exitCode, RefusedCommands } from '../../../src/front/headless/run-to-end.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import type { Decision } from '../../../src/protocol/permission.ts';

const DECISION: Decision = { verdict: 'ask', step: 'tool_default', reason: 'Why.' };

function event(body: EventBody): TaskEvent {
  return { ...body, v: 1, task: 'task00000001', seq: 1, ts: 1, epoch: 1 };
}

function refused(tool: string, decision: Decision | null): TaskEvent {
  const text = 'Refused.';
  return event({
    type: 'call.refused',
    callId: 'c',
    tool,
    text,
    error: 'PERMISSION_DENIED',
    decision,
  });
}

const LACKING = refused('Bash', { ...DECISION, lacksSandbox: 'here' });
const IN_CONTAINER = refused('Bash', { ...DECISION, lacksSandbox: 'in_container' });
const BY_RULE = refused('Bash', { ...DECISION, verdict: 'deny', step: 'deny_rule' });
const WRONG = refused('Bash', null);
const OTHER_TOOL = refused('SetEnv', { ...DECISION, lacksSandbox: 'here' });
const ran = (tool: string): TaskEvent =>
  event({ type: 'call.started', callId: 'c', tool, input: {} } as EventBody);

test.each([
  ['no call', [], false],
  ['one refused', [LACKING], true],
  ['several refused, in a container', [IN_CONTAINER, IN_CONTAINER], true],
  ['one refused, one with wrong arguments, and a search', [WRONG, LACKING, ran('Grep')], true],
  ['one refused, one ran', [LACKING, ran('Bash')], false],
  ['one ran, one refused', [ran('Bash'), LACKING], false],
  ['refused by a rule', [BY_RULE], false],
  ['another tool', [OTHER_TOOL], false],
])('%s', (_, events, isReported) => {
  const commands = new RefusedCommands();
  for (const each of events) commands.add(each);
  const problem = commands.problem();
  expect(problem?.includes('--sandbox container') ?? false).toBe(isReported);
  const codes = (['completed', 'failed', 'partial', 'parked', 'stopped'] as const).map((status) =>
    exitCode(status, problem),
  );
  expect(codes).toEqual([isReported ? 1 : 0, 1, 3, 5, 6]);
});
