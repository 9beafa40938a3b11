import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createConditionMatch } from '../../src/api/hooks/recorded-call.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { createHookRunner } from '../../src/hooks/hook-runner.ts';
import { convertHooks, HOOK_PRODUCTS } from '../../src/hooks/product-hooks.ts';
import type {
  HookOccasion,
  HookOutcome,
  HookSource,
  HookToolCall,
} from '../../src/protocol/hook.ts';
import { callHookFields } from '../../src/protocol/hook-fields.ts';
import { readHookCondition } from '../../src/trust/hook-conditions.ts';
import { serve } from '../model/adapters/support.ts';
import { tempDirectory } from '../sys/temp.ts';
import { makeClient } from '../web/support.ts';
import { makeOccasion, makeTask, readTestHooks, USER } from './samples.ts';

/** An example in the shape of a vendor's documentation, and what it does. The texts are not those of the page. */
interface Example {
  /** The page with the section. */
  readonly source: string;
  /** The product whose file is imported. Default: Claude Code, whose format is read as it is. */
  readonly product?: string;
  readonly hooks: JsonObject;
  /** The scripts of the example, by path. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** The origin of the hooks. Default: the user's settings. */
  readonly from?: HookSource;
  readonly occasion: Pick<HookOccasion, 'event' | 'matched' | 'fields'>;
  /** What the hooks say together, without their records. */
  readonly says?: Partial<HookOutcome>;
  /** The lines of the file `log`. */
  readonly log?: readonly string[];
  /** What of the example has no effect. Default: nothing. */
  readonly problems?: readonly string[];
}

const REFERENCE = 'https://code.claude.com/docs/en/hooks';
const GUIDE = 'https://code.claude.com/docs/en/hooks-guide';
const GEMINI = 'https://geminicli.com/docs/hooks';
const LOG = 'echo ran >> "$CLAUDE_PROJECT_DIR/log"';
const SCRIPT = '.claude/hooks/check.sh';

const command = (line: string, fields: JsonObject = {}) => ({
  type: 'command',
  command: line,
  ...fields,
});
const on = (matcher: string, ...hooks: readonly JsonValue[]) => [{ matcher, hooks: [...hooks] }];
const always = (...hooks: readonly JsonValue[]) => [{ hooks: [...hooks] }];
const specific = (hookEventName: string, fields: JsonObject) =>
  JSON.stringify({ hookSpecificOutput: { hookEventName, ...fields } });
const call = (
  event: 'PreToolUse' | 'PostToolUse' | 'PermissionRequest',
  tool: string,
  input: JsonObject,
) => ({
  event,
  matched: tool,
  fields: callHookFields({ id: 'c', tool, input }),
});
const bash = (line: string) => call('PreToolUse', 'Bash', { command: line });
const write = (path: string) => call('PostToolUse', 'Write', { file_path: path, content: '' });
const deny = (reason: string) => ({ verdict: { verdict: 'deny', reason, source: USER } }) as const;

const DENY_RM = {
  [SCRIPT]: `grep -q 'rm -r' && echo '${specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no rm' })}'; exit 0`,
};
const EXACT_SCRIPT = command(`\${CLAUDE_PROJECT_DIR}/${SCRIPT}`, { args: [], if: 'Bash(rm *)' });

const EXAMPLES: readonly Example[] = [
  {
    source: `${REFERENCE}#how-a-hook-resolves`,
    hooks: { PreToolUse: on('Bash', EXACT_SCRIPT) },
    scripts: DENY_RM,
    occasion: bash('ls && rm -rf x'),
    says: deny('no rm'),
  },
  {
    source: `${REFERENCE}#how-a-hook-resolves (another command)`,
    hooks: { PreToolUse: on('Bash', EXACT_SCRIPT) },
    scripts: { [SCRIPT]: LOG },
    occasion: bash('npm test'),
    log: [],
  },
  {
    source: `${REFERENCE}#matcher-patterns`,
    hooks: { PostToolUse: on('Edit|Write', command(LOG)) },
    occasion: write('a'),
    log: ['ran'],
  },
  {
    source: `${REFERENCE}#match-mcp-tools`,
    hooks: {
      PreToolUse: [
        ...on('mcp__memory__.*', command(LOG)),
        ...on('mcp__.*__write.*', command(`${LOG} #write`)),
      ],
    },
    occasion: call('PreToolUse', 'mcp__memory__write_note', {}),
    log: ['ran', 'ran'],
  },
  {
    source: `${REFERENCE}#exec-form-and-shell-form`,
    from: { kind: 'plugin', where: '/x/hooks.json', pluginRoot: '/usr' },
    hooks: {
      PostToolUse: on(
        'Write',
        command('test', { args: ['-d', '${CLAUDE_PLUGIN_ROOT}/bin'], onFailure: 'block' }),
      ),
    },
    occasion: write('a'),
  },
  {
    source: `${REFERENCE}#http-hook-fields`,
    hooks: {
      PreToolUse: on('Bash', {
        type: 'http',
        url: 'http://localhost:8080/before',
        timeout: 30,
        headers: { Authorization: 'Bearer $MY_TOKEN' },
        allowedEnvVars: ['MY_TOKEN'],
      }),
    },
    occasion: bash('ls'),
    says: deny('said Bearer mine'),
  },
  {
    source: `${REFERENCE}#how-a-hook-resolves (for two shells)`,
    hooks: {
      PreToolUse: on(
        'Bash|PowerShell',
        command(LOG, { if: 'Bash(rm *)' }),
        command('powershell.exe', { args: ['-File', 'x.ps1'], if: 'PowerShell(Remove-Item *)' }),
      ),
    },
    occasion: bash('rm x'),
    log: ['ran'],
  },
  {
    source: `${REFERENCE}#mcp-tool-hook-fields`,
    hooks: {
      PostToolUse: on('Write|Edit', {
        type: 'mcp_tool',
        server: 'scan',
        tool: 'look',
        input: { file_path: '${tool_input.file_path}' },
      }),
    },
    occasion: write('a.txt'),
    says: { context: ['scan.look of {"file_path":"a.txt"}'] },
  },
  {
    source: `${REFERENCE}#exit-code-2`,
    hooks: {
      PreToolUse: on('Bash', command('grep -q drop && { echo "no drop" >&2; exit 2; }; exit 0')),
    },
    occasion: bash('drop x'),
    says: deny('no drop'),
  },
  {
    source: `${REFERENCE}#json-output`,
    hooks: {
      PostToolUse: on('', command(`echo '{"continue": false, "stopReason": "it is broken"}'`)),
    },
    occasion: write('a'),
    says: { stop: 'it is broken' },
  },
  {
    source: `${REFERENCE}#add-context-for-claude`,
    hooks: {
      PostToolUse: on(
        'Write',
        command(`echo '${specific('PostToolUse', { additionalContext: 'it is generated' })}'`),
      ),
    },
    occasion: write('a'),
    says: { context: ['it is generated'] },
  },
  {
    source: `${REFERENCE}#sessionstart`,
    hooks: {
      SessionStart: on(
        'startup',
        command(`echo '${specific('SessionStart', { additionalContext: 'on main' })}'`),
      ),
    },
    occasion: { event: 'SessionStart', matched: 'startup', fields: {} },
    says: { context: ['on main'] },
  },
  {
    source: `${REFERENCE}#userpromptsubmit-decision-control`,
    hooks: { UserPromptSubmit: always(command(`echo '{"decision": "block", "reason": "no"}'`)) },
    occasion: { event: 'UserPromptSubmit', matched: null, fields: { prompt: 'x' } },
    says: { block: 'no' },
  },
  {
    source: `${REFERENCE}#pretooluse-decision-control`,
    hooks: {
      PreToolUse: on(
        'Bash',
        command(
          `echo '${specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: 'ls' } })}'`,
        ),
      ),
    },
    occasion: bash('ls -l'),
    says: {
      verdict: { verdict: 'allow', reason: 'A hook gave no reason.', source: USER },
      updatedInput: { command: 'ls' },
    },
  },
  {
    source: `${REFERENCE}#permissionrequest-decision-control`,
    hooks: {
      PermissionRequest: on(
        'Bash',
        command(
          `echo '${specific('PermissionRequest', { decision: { behavior: 'allow', updatedInput: { command: 'ls' } } })}'`,
        ),
      ),
    },
    occasion: call('PermissionRequest', 'Bash', { command: 'ls -l' }),
    says: {
      verdict: { verdict: 'allow', reason: 'A hook gave no reason.', source: USER },
      updatedInput: { command: 'ls' },
    },
  },
  {
    source: `${REFERENCE}#posttoolbatch-decision-control`,
    hooks: {
      PostToolBatch: always(
        command(`echo '${specific('PostToolBatch', { additionalContext: 'run the tests' })}'`),
      ),
    },
    occasion: { event: 'PostToolBatch', matched: null, fields: { tool_calls: [] } },
    says: { context: ['run the tests'] },
  },
  {
    source: `${REFERENCE}#stop-decision-control`,
    hooks: { Stop: always(command(`echo '{"decision": "block", "reason": "not yet"}'`)) },
    occasion: { event: 'Stop', matched: null, fields: {} },
    says: { block: 'not yet' },
  },
  {
    source: `${REFERENCE}#postcompact`,
    hooks: { PostCompact: on('auto', command(LOG)) },
    occasion: { event: 'PostCompact', matched: 'auto', fields: {} },
    log: ['ran'],
  },
  {
    source: `${REFERENCE}#prompt-hook-configuration`,
    hooks: { Stop: always({ type: 'prompt', prompt: 'May it stop? $ARGUMENTS', timeout: 30 }) },
    occasion: { event: 'Stop', matched: null, fields: {} },
    says: { block: 'the model objects' },
  },
  {
    source: `${REFERENCE}#agent-hook-configuration`,
    hooks: {
      Stop: always({ type: 'agent', prompt: 'Do the tests pass? $ARGUMENTS', timeout: 120 }),
    },
    occasion: { event: 'Stop', matched: null, fields: {} },
    says: { block: 'the subagent objects' },
  },
  {
    source: `${REFERENCE}#run-tests-after-file-changes`,
    hooks: {
      PostToolUse: on(
        'Write|Edit',
        command(`\${CLAUDE_PROJECT_DIR}/${SCRIPT}`, { args: [], async: true, timeout: 300 }),
      ),
    },
    scripts: { [SCRIPT]: LOG },
    occasion: write('a.ts'),
    log: ['ran'],
  },
  {
    source: `${REFERENCE}#userpromptexpansion`,
    hooks: {
      UserPromptExpansion: on(
        '^release$',
        command(`echo '{"decision": "block", "reason": "not today"}'`),
      ),
    },
    occasion: {
      event: 'UserPromptExpansion',
      matched: 'release',
      fields: { command_name: 'release' },
    },
    says: { block: 'not today' },
  },
  {
    source: `${REFERENCE}#userpromptexpansion (a plugin with a banner)`,
    from: { kind: 'plugin', where: '/x/hooks.json', pluginRoot: '/x' },
    hooks: { UserPromptExpansion: on('^kit:scan$', command(LOG)) },
    occasion: { event: 'UserPromptExpansion', matched: 'kit:scan', fields: {} },
    log: ['ran'],
  },
  {
    source: `${REFERENCE}#instructionsloaded`,
    hooks: { InstructionsLoaded: on('session_start', command(LOG)) },
    occasion: { event: 'InstructionsLoaded', matched: 'session_start', fields: {} },
    log: ['ran'],
  },
  {
    source: `${REFERENCE}#premodelswitch`,
    hooks: {
      PreModelSwitch: on(
        'claude-big.*',
        command(
          `echo '${specific('PreModelSwitch', { permissionDecision: 'deny', permissionDecisionReason: 'too dear' })}'`,
        ),
      ),
    },
    occasion: { event: 'PreModelSwitch', matched: 'claude-big-1', fields: {} },
    says: { block: 'too dear' },
  },
  {
    source: `${REFERENCE}#elicitation`,
    hooks: {
      Elicitation: on('demo', command(`echo '${specific('Elicitation', { action: 'decline' })}'`)),
    },
    occasion: { event: 'Elicitation', matched: 'demo', fields: { mcp_server_name: 'demo' } },
    says: { block: 'A hook gave no reason.' },
  },
  {
    source: `${REFERENCE}#elicitationresult`,
    hooks: { ElicitationResult: on('other', command(LOG)) },
    occasion: { event: 'ElicitationResult', matched: 'demo', fields: {} },
    log: [],
  },
  {
    source: `${REFERENCE}#configchange`,
    hooks: { ConfigChange: always(command('audit')) },
    occasion: write('a'),
    problems: [
      'hooks.ConfigChange: is not supported yet: Settings are read once, when Muster starts, and nobody watches their files yet.',
    ],
  },
  {
    source: `${REFERENCE}#worktreeremove`,
    hooks: { WorktreeRemove: always(command('remove')) },
    occasion: write('a'),
    problems: [
      'hooks.WorktreeRemove: has no meaning here: Its hooks remove what hooks of WorktreeCreate have created, and would destroy the work of a task.',
    ],
  },
  {
    source: `${GUIDE}#set-up-your-first-hook`,
    hooks: { Notification: on('', command(LOG)) },
    occasion: { event: 'Notification', matched: 'permission_prompt', fields: {} },
    log: ['ran'],
  },
  {
    source: `${GUIDE}#auto-format-code-after-edits`,
    hooks: {
      PostToolUse: on(
        'Edit|Write',
        command(
          `sed -n 's/.*"file_path":"\\([^"]*\\)".*/\\1/p' | xargs echo >> "$CLAUDE_PROJECT_DIR/log"`,
        ),
      ),
    },
    occasion: write('a.ts'),
    log: ['a.ts'],
  },
  {
    source: `${GUIDE}#block-edits-to-protected-files`,
    hooks: { PreToolUse: on('Edit|Write', command(`"$CLAUDE_PROJECT_DIR"/${SCRIPT}`)) },
    scripts: {
      [SCRIPT]: `grep -q '"file_path":"[^"]*\\.env"' && { echo "protected" >&2; exit 2; }; exit 0`,
    },
    occasion: call('PreToolUse', 'Edit', { file_path: '/p/.env' }),
    says: deny('protected'),
  },
  {
    source: `${GUIDE}#re-inject-context-after-compaction`,
    hooks: { SessionStart: on('compact', command('echo "use tabs"')) },
    occasion: { event: 'SessionStart', matched: 'compact', fields: {} },
    says: { context: ['use tabs'] },
  },
  {
    source: `${GUIDE}#auto-approve-specific-permission-prompts`,
    hooks: {
      PermissionRequest: on(
        'ExitPlanMode',
        command(`echo '${specific('PermissionRequest', { decision: { behavior: 'allow' } })}'`),
      ),
    },
    occasion: call('PermissionRequest', 'ExitPlanMode', {}),
    says: { verdict: { verdict: 'allow', reason: 'A hook gave no reason.', source: USER } },
  },
  {
    source: `${GUIDE}#combine-results-from-multiple-hooks`,
    hooks: { PreToolUse: on('Bash', command(LOG), command(`"$CLAUDE_PROJECT_DIR"/${SCRIPT}`)) },
    scripts: DENY_RM,
    occasion: bash('rm -r x'),
    says: deny('no rm'),
    log: ['ran'],
  },
  {
    source: `${GUIDE}#reload-environment-when-directory-or-files-change`,
    hooks: { CwdChanged: always(command('reload')) },
    occasion: write('a'),
    problems: [
      'hooks.CwdChanged: has no meaning here: The working directory of a task never changes.',
    ],
  },
  {
    source: `${GEMINI}/writing-hooks`,
    product: 'Gemini CLI',
    hooks: {
      BeforeTool: on('write_file|replace', {
        name: 'secrets',
        description: 'Finds keys.',
        ...command(`"$GEMINI_PROJECT_DIR"/${SCRIPT}`, { timeout: 5000 }),
      }),
    },
    scripts: { [SCRIPT]: `echo '{"decision": "deny", "reason": "a key"}'` },
    occasion: call('PreToolUse', 'Write', { file_path: 'a' }),
    says: deny('a key'),
  },
  {
    source: `${GEMINI}/reference#sessionstart`,
    product: 'Gemini CLI',
    hooks: {
      SessionStart: on(
        'startup',
        command(`echo '${specific('SessionStart', { additionalContext: 'hello' })}'`, {
          name: 'greet',
        }),
      ),
    },
    occasion: { event: 'SessionStart', matched: 'startup', fields: {} },
    says: { context: ['hello'] },
  },
  {
    source: `${GEMINI}/reference#afteragent`,
    product: 'Gemini CLI',
    hooks: {
      AfterAgent: always(
        command(`echo '{"decision": "deny", "reason": "again"}'`, { name: 'retry' }),
      ),
    },
    occasion: { event: 'Stop', matched: null, fields: {} },
    says: { block: 'again' },
  },
  {
    source: `${GEMINI}/reference#beforemodel`,
    product: 'Gemini CLI',
    hooks: { BeforeModel: always(command('x', { name: 'x' })) },
    occasion: write('a'),
    problems: ['BeforeModel: Muster has no such moment.'],
  },
  {
    source: 'https://docs.factory.ai/cli/configuration/hooks-guide',
    product: 'Factory Droid',
    hooks: {
      PostToolUse: on('Edit|Create', command(`"$FACTORY_PROJECT_DIR"/${SCRIPT}`, { timeout: 30 })),
    },
    scripts: { [SCRIPT]: LOG },
    occasion: write('a'),
    log: ['ran'],
  },
  {
    source: 'https://developers.openai.com/codex/hooks',
    product: 'Codex',
    hooks: { PreToolUse: on('^Bash$', command(LOG, { statusMessage: 'Looking', timeout: 30 })) },
    occasion: bash('ls'),
    log: ['ran'],
  },
];

/** Reads the hooks of an example, as they are or imported. */
function readExample({ product: name, from, ...example }: Example, server: string) {
  const text = JSON.stringify(example.hooks).replaceAll('http://localhost:8080', server);
  const hooks: JsonObject = JSON.parse(text);
  if (name === undefined) return readTestHooks(hooks, from);
  const product = HOOK_PRODUCTS.find((each) => each.name === name);
  if (product === undefined) throw new Error(`no product ${name}`);
  const { groups, missing } = convertHooks(product, { hooks });
  const read = readTestHooks(Object.fromEntries(groups) as JsonObject, from);
  return { hooks: read.hooks, problems: [...missing, ...read.problems] };
}

function writeScripts(directory: string, scripts: Example['scripts'] = {}): void {
  for (const [path, text] of Object.entries(scripts)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  }
}

const objects = (who: string) => async () =>
  ({ ok: true, text: JSON.stringify({ ok: false, reason: `the ${who} objects` }) }) as const;
const callTool = async ({ server, tool, input }: HookToolCall) => {
  const additionalContext = `${server}.${tool} of ${JSON.stringify(input)}`;
  return { ok: true, text: specific('PostToolUse', { additionalContext }) } as const;
};

describe('an example of', () => {
  it.each(EXAMPLES)('$source loads unchanged and has its effect', async (example) => {
    await using server = await serve((response, { headers }) => {
      const reason = `said ${headers.authorization ?? 'nobody'}`;
      response.end(JSON.stringify({ decision: 'block', reason }));
    });
    const client = makeClient();
    const { hooks, problems } = readExample(example, server.url);
    expect(problems).toEqual(example.problems ?? []);
    const cwd = tempDirectory();
    writeScripts(cwd, example.scripts);
    const runner = createHookRunner({
      hooks,
      clock: systemClock,
      readCondition: readHookCondition,
      onLostFailure: () => {},
      env: { PATH: process.env['PATH'], MY_TOKEN: 'mine' },
      projectDirectory: cwd,
      confinement: async () => 'unconfined',
      confinesOwn: false,
      send: (request) => client.send(request),
    });
    const { fields, matched } = example.occasion;
    const input = fields['tool_input'] ?? {};
    const occasion = makeOccasion({
      ...example.occasion,
      task: makeTask({ cwd }),
      matchCondition: createConditionMatch({ tool: matched ?? '', input, cwd }, '/home/u'),
      ask: objects('model'),
      askAgent: objects('subagent'),
      callTool,
    });
    const { records, changedBy, ...says } = await runner.run(
      occasion,
      new AbortController().signal,
    );
    const log = join(cwd, 'log');
    if (example.log !== undefined && example.log.length > 0)
      await expect
        .poll(() => existsSync(log) && readFileSync(log, 'utf8').trim().split('\n'))
        .toEqual(example.log);
    else expect(existsSync(log)).toBe(false);
    await runner.close();
    expect(records.filter(({ outcome }) => outcome === 'failed' || outcome === 'timeout')).toEqual(
      [],
    );
    expect(says).toEqual({ context: [], ...example.says });
    expect(changedBy !== undefined).toBe(says.updatedInput !== undefined);
  });
});
