import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { createHookRunner } from '../../../src/hooks/hook-runner.ts';
import { mergeOutcomes } from '../../../src/hooks/merge-outcomes.ts';
import { readHookOutput, type HookEnd } from '../../../src/hooks/read-hook-output.ts';
import { parseRules } from '../../../src/policy/rules/rules.ts';
import type { HookPort, HookSource } from '../../../src/protocol/hook.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../src/protocol/permission.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { readHookCondition } from '../../../src/trust/hook-conditions.ts';
import { readTestHooks } from '../../hooks/samples.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { call, calls, play } from '../play.ts';
import { testEngine } from '../support.ts';

/** The rules and the mode of the user. */
interface Grant {
  readonly mode: PermissionMode;
  readonly asks: boolean;
  readonly denies: boolean;
}

const PATHS = ['/work/a', '/work/b', '/work/.git/config', '/etc/passwd'] as const;
const SOURCES = {
  user: { kind: 'user', where: '~/.claude/settings.json' },
  project: { kind: 'project', where: '.claude/settings.json' },
} as const satisfies Record<string, HookSource>;

/** A tool that changes files and records the paths of its calls. */
function recordingTool(ran: string[]): AnyTool {
  return {
    name: 'Write',
    kind: 'edit',
    replay: 'opaque',
    description: 'write',
    inputSchema: { type: 'object' },
    parse: (input) =>
      typeof (input as JsonObject)['path'] === 'string'
        ? { ok: true, input }
        : { ok: false, issues: ['path must be a text'] },
    describe: ({ path }: { path: string }) => ({
      reads: [],
      writes: [path],
      commands: [],
      hosts: [],
    }),
    run: async ({ path }: { path: string }) => {
      ran.push(path);
      return { text: 'done' };
    },
  };
}

/** Runs calls on these paths, and returns the paths of the calls that ran. */
async function run(
  paths: readonly string[],
  { mode, asks, denies }: Grant,
  hooks: HookPort | null,
  root = '/work',
): Promise<readonly string[]> {
  const ran: string[] = [];
  const source = { kind: 'config', where: 'config.toml' } as const;
  const denied = [{ text: `Edit(/${root}/b)`, source }];
  const { deny } = parseRules({ allow: [], ask: [], deny: denies ? denied : [] }).rules;
  const main = [calls(...paths.map((path) => call('Write', { path })))];
  const test = testEngine(play({ main }), {
    mode,
    deny,
    root,
    tools: [recordingTool(ran)],
    ...(asks ? { ask: ['Write'] } : {}),
    ...(hooks === null ? {} : { hooks }),
  });
  await test.start('main').end.written;
  return ran;
}

/** Hooks that end in these ways, one after the other, at every event. */
function hooksThatEnd(ends: readonly HookEnd[], source: HookSource): HookPort {
  let next = 0;
  return {
    has: (event) => event === 'PreToolUse' || event === 'PermissionRequest',
    beginSession: () => true,
    run: async ({ event }) => {
      const end = ends[next % ends.length] ?? { kind: 'failed', reason: 'none' };
      next += 1;
      const mayAllow = source.kind === 'user';
      const reply = readHookOutput(end, { event, mayAllow, blocksOnFailure: false });
      return mergeOutcomes([{ source, what: './hook', ms: 1, reply, isAlwaysRecorded: false }]);
    },
  };
}

const anyGrant: fc.Arbitrary<Grant> = fc.record({
  mode: fc.constantFrom('default', 'default', ...PERMISSION_MODES),
  asks: fc.boolean(),
  denies: fc.boolean(),
});

const anyAnswer = fc.record(
  {
    decision: fc.constantFrom('approve', 'block', 'allow', 'deny', 'x'),
    reason: fc.string(),
    hookSpecificOutput: fc.record(
      {
        hookEventName: fc.constantFrom('PreToolUse', 'PermissionRequest', 'Stop'),
        permissionDecision: fc.constantFrom('allow', 'deny', 'ask', 'defer', 7),
        permissionDecisionReason: fc.string(),
        updatedInput: fc.oneof(
          fc.record({ path: fc.constantFrom(...PATHS) }),
          fc.constant({ path: 1 }),
        ),
        decision: fc.record({ behavior: fc.constantFrom('allow', 'deny') }),
        additionalContext: fc.string(),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** An answer in the right form, which random answers seldom have. */
const rightAnswer = fc.record({
  hookSpecificOutput: fc.record(
    {
      hookEventName: fc.constant('PreToolUse'),
      permissionDecision: fc.constantFrom('allow', 'allow', 'allow', 'ask', 'deny'),
      updatedInput: fc.record({ path: fc.constantFrom(...PATHS) }),
    },
    { requiredKeys: ['hookEventName', 'permissionDecision'] },
  ),
});

/** Creates the end of a command that printed this. */
const exited = (code: number | null, stdout: string, stderr = ''): HookEnd => ({
  kind: 'exited',
  code,
  signal: null,
  stdout,
  stderr,
});

const anyEnd: fc.Arbitrary<HookEnd> = fc.oneof(
  { weight: 6, arbitrary: rightAnswer.map((answer) => exited(0, JSON.stringify(answer))) },
  { weight: 3, arbitrary: anyAnswer.map((answer) => exited(0, JSON.stringify(answer))) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 1, 2, 127, null), fc.string(), fc.string())
      .map(([code, stdout, stderr]) => exited(code, stdout, stderr)),
  },
  fc.constant<HookEnd>({ kind: 'timeout', limitMs: 10 }),
  fc.constant<HookEnd>({ kind: 'failed', reason: 'it could not run' }),
);

const anyCase = [
  fc.array(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 3 }),
  anyGrant,
  fc.array(anyEnd, { minLength: 1, maxLength: 4 }),
] as const;

it('every call that ran with the hooks of a project runs with its final arguments without hooks, too', async () => {
  await fc.assert(
    fc.asyncProperty(...anyCase, async (paths, grant, ends) => {
      const ran = await run(paths, grant, hooksThatEnd(ends, SOURCES.project));
      for (const path of ran) expect(await run([path], grant, null)).toEqual([path]);
    }),
    { numRuns: 150 },
  );
});

it("the user's own hooks let a call run beyond that only where nothing but the default of the tool asks", async () => {
  await fc.assert(
    fc.asyncProperty(...anyCase, async (paths, grant, ends) => {
      const ran = await run(paths, grant, hooksThatEnd(ends, SOURCES.user));
      for (const path of ran) {
        const runsAlone = (await run([path], grant, null)).length > 0;
        const isDefault =
          grant.mode === 'default' &&
          !grant.asks &&
          (path === '/work/a' || (path === '/work/b' && !grant.denies));
        expect(runsAlone || isDefault).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});

/** A command hook: whose it is, and what it prints with which exit code. */
const anyCommand = fc.record({
  isOfUser: fc.boolean(),
  code: fc.constantFrom(0, 0, 0, 0, 1, 2),
  answer: fc.oneof({ weight: 3, arbitrary: rightAnswer }, { weight: 1, arbitrary: anyAnswer }),
});

it('real commands of a project let no call run that would not run without them, whatever other hooks say', async () => {
  const root = realpathSync(tempDirectory());
  const here = (text: string): string => text.replaceAll('/work/', `${root}/`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 2 }),
      anyGrant,
      fc.array(anyCommand, { minLength: 1, maxLength: 3 }),
      async (paths, grant, commands) => {
        const hooks = commands.flatMap(({ isOfUser, code, answer }, index) => {
          const file = join(root, `answer-${index}.json`);
          writeFileSync(file, here(JSON.stringify(answer)));
          const hook = { type: 'command', command: `cat '${file}'; exit ${code}` };
          const source = isOfUser ? SOURCES.user : SOURCES.project;
          return readTestHooks({ PreToolUse: [{ hooks: [hook] }] }, source).hooks;
        });
        const runner = createHookRunner({
          hooks,
          clock: systemClock,
          readCondition: readHookCondition,
          onLostFailure: () => {},
          env: { PATH: process.env['PATH'] },
          projectDirectory: root,
          confinement: async () => 'unconfined',
          confinesOwn: false,
          send: () => Promise.reject(new Error('no hook sends anything')),
        });
        const allows = commands.some(
          ({ isOfUser, answer }) => isOfUser && /"(?:allow|approve)"/.test(JSON.stringify(answer)),
        );
        const ran = await run(paths.map(here), grant, runner, root);
        await runner.close();
        for (const path of ran) {
          const runsAlone = (await run([path], grant, null, root)).length > 0;
          const isDefault =
            grant.mode === 'default' &&
            !grant.asks &&
            (path === `${root}/a` || (path === `${root}/b` && !grant.denies));
          expect(runsAlone || (allows && isDefault)).toBe(true);
        }
      },
    ),
    { numRuns: 25 },
  );
});
