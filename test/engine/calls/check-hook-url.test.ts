import { expect, it } from 'vitest';
import { findRequestProblem, findUrlProblem } from '../../../src/engine/calls/check-hook-url.ts';
import type { EngineDeps } from '../../../src/engine/task/deps.ts';
import { parseRules } from '../../../src/policy/rules/rules.ts';
import type { HookPort } from '../../../src/protocol/hook.ts';
import type { PermissionMode } from '../../../src/protocol/permission.ts';
import { webFetchTool } from '../../../src/tools/web/web-fetch.ts';
import { play } from '../play.ts';
import { testEngine } from '../support.ts';

const URL = 'https://hooks.example.com/a';
const DENIED = [
  { text: 'WebFetch(domain:example.com)', source: { kind: 'flag', where: '' } as const },
];

/** Returns what the hooks of a task are told about a request to this address. */
async function ask(
  url: string,
  setup: {
    readonly mode?: PermissionMode;
    readonly ask?: readonly string[];
    readonly denies?: boolean;
  },
): Promise<string | null | undefined> {
  let problem: string | null | undefined;
  const hooks: HookPort = {
    has: (event) => event === 'Stop',
    beginSession: () => false,
    run: async ({ findUrlProblem: find }) => {
      problem = await find?.(url);
      return { context: [], records: [] };
    },
  };
  const { denies = false, ...rest } = setup;
  const { deny } = parseRules({ allow: [], ask: [], deny: denies ? DENIED : [] }).rules;
  const test = testEngine(play({}), { tools: [webFetchTool], hooks, deny, ...rest });
  await test.start('main').end.written;
  return problem;
}

it.each([
  ['plan mode', URL, { mode: 'plan' }, /^Refused, nothing was done\. Plan mode changes nothing/],
  ['a deny rule', URL, { denies: true }, /The deny rule `WebFetch\(domain:example\.com\)`/],
  ['an ask rule', URL, { ask: ['WebFetch'] }, /The ask rule .* Nobody is asked about the request/],
  ['a task without network', URL, { mode: 'default' }, /^The task has no network/],
  ['an address of this machine', 'http://127.0.0.1:8080/', {}, /127\.0\.0\.1 is an address/],
  ['the metadata of a cloud', 'http://169.254.169.254/', {}, /169\.254\.169\.254 is an address/],
  ['a port of another service', 'http://example.com:25/', {}, /^WebFetch takes no such address/],
  ['no address', 'ftp://example.com/', {}, /^WebFetch takes no such address/],
] as const)('%s keeps a hook from sending a request', async (_, url, setup, reason) => {
  expect(await ask(url, setup)).toMatch(reason);
});

it('the trust in a hook answers the question of the tool, and an allow rule allows it anyway', () => {
  const asked = { verdict: 'ask', step: 'tool_default', reason: 'It asks.' } as const;
  expect(findRequestProblem(asked, { network: true })).toBeNull();
  expect(findRequestProblem(asked, { network: false })).not.toBeNull();
  const allowed = { verdict: 'allow', step: 'allow_rule', reason: 'A rule.' } as const;
  expect(findRequestProblem(allowed, { network: false })).toBeNull();
});

it('nothing is sent where there is no web', async () => {
  const run = testEngine(play({})).start('main');
  const deps: Pick<EngineDeps, 'tools'> = { tools: [] };
  expect(await findUrlProblem(deps as EngineDeps, run, URL)).toBe(
    'The web cannot be reached from here.',
  );
  await run.end.written;
});
