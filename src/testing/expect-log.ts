import { AssertionError, deepStrictEqual } from 'node:assert/strict';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { LoggedCall, RecordedLog } from './record-log.ts';

/** An expected call: the name of its tool, or the name and those fields of its arguments that count. */
export type ExpectedCall = string | readonly [tool: string, input: JsonObject];

/**
 * Checks the calls of a run, in the order in which they began: all of them, or with `agent` those of the tasks of this agent.
 * Refused calls count. Throws AssertionError that shows the difference.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { expectCalls, recordLog, scriptedModel } from 'muster-agent/testing';
 *
 * const model = scriptedModel([{ toolCalls: [{ name: 'LS', input: { path: '.' } }] }, { text: 'Nothing.' }]);
 * await using muster = await createMuster({ model });
 * const log = await recordLog(muster.run('What is here?'));
 * expectCalls(log, ['LS']);
 * expectCalls(log, [['LS', { path: '.' }]], { agent: 'main' });
 */
export function expectCalls(
  log: Pick<RecordedLog, 'calls'>,
  expected: readonly ExpectedCall[],
  { agent }: { readonly agent?: string } = {},
): void {
  const calls = log.calls.filter((call) => agent === undefined || call.agent === agent);
  const seen = calls.map((call, index) => selectFields(call, expected[index]));
  expectSame(seen, expected, agent === undefined ? 'calls' : `calls of ${agent}`);
}

/** Returns a call in the form of an expected one: with the arguments that it names, or with all if it differs in its tool. */
function selectFields({ tool, input }: LoggedCall, expected: ExpectedCall | undefined): unknown {
  if (expected === undefined || (typeof expected !== 'string' && expected[0] !== tool))
    return [tool, input];
  if (typeof expected === 'string') return tool;
  if (!isJsonObject(input)) return [tool, input];
  const fields = Object.keys(expected[1]).flatMap((name): [string, JsonValue][] => {
    const value = input[name];
    return value === undefined ? [] : [[name, value]];
  });
  return [tool, Object.fromEntries(fields)];
}

/**
 * Checks the agents of all tasks below the main task, in the order of their creation. Throws AssertionError that shows the
 * difference.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { expectChildren, recordLog, scriptedModel } from 'muster-agent/testing';
 *
 * const model = scriptedModel([{ toolCalls: [{ name: 'LS', input: { path: '.' } }] }, { text: 'Nothing.' }]);
 * await using muster = await createMuster({ model });
 * const log = await recordLog(muster.run('What is here?'));
 * expectChildren(log, []);
 */
export function expectChildren(log: Pick<RecordedLog, 'ofType'>, agents: readonly string[]): void {
  const created = log.ofType('task.created').filter(({ spec }) => spec.parent !== null);
  expectSame(
    created.map(({ spec }) => spec.agent.name),
    agents,
    'agents of the children',
  );
}

/**
 * Checks the tools of the calls that were refused, in their order. Throws AssertionError that shows the difference.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { expectRefusals, recordLog, scriptedModel } from 'muster-agent/testing';
 *
 * const model = scriptedModel([{ toolCalls: [{ name: 'Bash', input: { command: 'rm a' } }] }, { text: 'No.' }]);
 * await using muster = await createMuster({ model });
 * const log = await recordLog(muster.run('What is here?'));
 * expectRefusals(log, ['Bash']);
 */
export function expectRefusals(log: Pick<RecordedLog, 'calls'>, tools: readonly string[]): void {
  const refused = log.calls.filter(({ outcome }) => outcome === 'refused');
  expectSame(
    refused.map(({ tool }) => tool),
    tools,
    'refused calls',
  );
}

/**
 * Checks the names of the limits that tasks have reached, such as `max_turns`, in their order. Throws AssertionError that shows
 * the difference.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { expectLimits, recordLog, scriptedModel } from 'muster-agent/testing';
 *
 * const model = scriptedModel([{ toolCalls: [{ name: 'LS', input: { path: '.' } }] }, { text: 'Cut.' }]);
 * await using muster = await createMuster({ model });
 * const log = await recordLog(muster.run('What is here?', { budget: { turns: 1 } }));
 * expectLimits(log, ['max_turns']);
 */
export function expectLimits(log: Pick<RecordedLog, 'ofType'>, limits: readonly string[]): void {
  const reached = log.ofType('limit.reached').map(({ limit }) => limit);
  expectSame(reached, limits, 'limits that were reached');
}

function expectSame(actual: unknown, expected: unknown, subject: string): void {
  try {
    deepStrictEqual(actual, expected);
  } catch (thrown) {
    if (!(thrown instanceof AssertionError)) throw thrown;
    // Test runners add the difference of `actual` and `expected`, and the message has it already.
    throw new AssertionError({
      message: `the ${subject} are not as expected\n${thrown.message}`,
    });
  }
}
