import { OTHER_VENDORS } from '../../../src/agents/formats/vendors.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toPrintableJson } from '../../../src/base/printable-json.ts';

/** Pieces of what the vendors' files are made of, and of what breaks readers. */
const PIECES = [
  '---\n',
  '\r\n',
  '\uFEFF',
  '\t',
  '- ',
  'name: x\n',
  'description: a: b: c\n',
  'tools: [read, "*", {a: 1}]\n',
  'tools: {bash: false, "*": false}\n',
  'permission:\n  bash:\n    "*": deny\n    "git *": allow\n',
  'permission: {edit: {"**/*.{ts": deny, "../x": ask, "(": deny}}\n',
  'permissions: [{action: "*", resource: 3}, 4, null]\n',
  'kind: remote\n',
  '- kind: remote\n  name: a\n',
  'executor: {}\n',
  'runConfig: {max_turns: -1, max_time_minutes: x}\n',
  'modelConfig: {model: [1]}\n',
  'model: {providerID: 1, model: null}\n',
  'turnBudget: "{"\n',
  'timeoutMs: 1e400\n',
  'maxSubagentDepth: 0\n',
  'thinking: false\n',
  'runner: [1]\n',
  '__proto__: {a: b}\n',
  'a: &a [*a]\n',
  '{"agent": {"x": ',
  '{"prompt": "{file:/etc/passwd}", "permission": "deny"',
  '"__proto__": {"disable": true}, ',
  '}}',
  '//',
  '/*',
  '"',
  '\u0000',
  '\u001b[2J',
  '{{ x }}',
  '[recipe]\n',
];

const anyText = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.join(''));

const NAMES = ['x.md', '_x.md', 'x.agent.md', 'opencode.json', 'opencode.jsonc'];

test.each(OTHER_VENDORS.map(({ agents: format }) => [format.vendor, format] as const))(
  '%s: no text makes it throw, and its result can be displayed',
  async (_, format) => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.constantFrom(...NAMES), async (text, name) => {
        if (!format.accepts(name)) return;
        const path = `/p/.opencode/agents/${name}`;
        const { items, problems } = await format.read({ path, scope: 'project', text });
        expect(items.length + problems.length).toBeGreaterThan(0);
        for (const { origin, name: agentName } of items) {
          expect([origin.path, agentName.includes('\n')]).toEqual([path, false]);
        }
        toPrintableJson({ items, problems });
      }),
      { numRuns: 300 },
    );
  },
);
