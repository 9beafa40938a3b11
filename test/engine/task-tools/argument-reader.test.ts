import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/base/json.ts';
import type { EngineContext } from '../../../src/engine/delegation/engine-context.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { createTaskTools } from '../../../src/engine/task-tools/index.ts';

/** An empty engine: reading arguments uses no part of it. */
const ALL = createTaskTools({ deps: {} } as unknown as EngineContext, () =>
  Promise.reject(new Error('nothing is delegated here')),
);

// Calls of McpCall and McpResource never get to their own arguments: they become calls of the tools of servers.
const TOOLS = ALL.filter(({ name }) => name !== 'McpCall' && name !== 'McpResource');

/** The shortest valid call of each tool. */
const SHORTEST: Readonly<Record<string, JsonObject>> = {
  Skill: { skill: 'a' },
  AskUser: { question: 'a?' },
  ExitPlanMode: { plan: 'a' },
  TaskOutput: { task_id: 'a' },
  TaskStop: { task_id: 'a' },
  TaskSend: { to: 'a', message: 'b' },
  Notify: { message: 'a' },
  Task: { prompt: 'a' },
  TaskList: {},
  TaskReplay: { task_id: 'a' },
  Board: { action: 'list' },
  ToolSearch: { query: 'a' },
  RunTemplate: { template: 'a', items: ['b'] },
  TaskLand: { task_id: 'a', action: 'diff' },
};

test('every tool is in the table', () => {
  expect(TOOLS.map(({ name }) => name).toSorted()).toEqual(Object.keys(SHORTEST).toSorted());
});

describe.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const shortest = SHORTEST[name] ?? {};

  test('accepts its shortest call', () => {
    expect(tool.parse(shortest)).toMatchObject({ ok: true });
  });

  test('refuses an unknown argument, whatever its value', () => {
    for (const value of ['red', '', null, [], 1]) {
      const parsed = tool.parse({ ...shortest, colour: value });
      expect(parsed.ok ? [] : parsed.issues).toEqual([
        expect.stringMatching(/^colour: is not an argument.*; (?:valid are |there are none)/),
      ]);
    }
  });

  test('treats an empty text in an optional field as absent', () => {
    const { properties }: { properties?: unknown } = tool.inputSchema;
    const optional = Object.keys(properties ?? {}).filter(
      // In these two fields an empty text is an error, because no default could be meant.
      (field) => !Object.hasOwn(shortest, field) && !['subagent_type', 'resume'].includes(field),
    );
    for (const field of optional) {
      const parsed = tool.parse({ ...shortest, [field]: '' });
      const plain = tool.parse(shortest);
      expect([field, inputOf(parsed)]).toEqual([field, inputOf(plain)]);
    }
  });
});

/** Returns the parsed input without the original arguments, which some tools keep. */
function inputOf(parsed: ReturnType<AnyTool['parse']>): unknown {
  const input: unknown = parsed.ok ? parsed.input : parsed.issues;
  return isJsonObject(input) ? { ...input, params: null } : input;
}

test('no argument with an unknown name is ever part of a call that runs', () => {
  const anything = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(
      fc.constantFrom(...TOOLS),
      fc.string({ minLength: 1 }),
      anything,
      (tool, key, value) => {
        const call = SHORTEST[tool.name] ?? {};
        const probe = tool.parse({ ...call, [key]: { no: 'value' } });
        fc.pre(!probe.ok && probe.issues.some((issue) => issue.includes('is not an argument')));
        expect(tool.parse({ ...call, [key]: value }).ok).toBe(false);
      },
    ),
    { numRuns: 1000 },
  );
});
