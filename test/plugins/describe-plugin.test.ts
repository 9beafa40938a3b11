import { expect, test } from 'vitest';
import { describePlugin } from '../../src/plugins/describe-plugin.ts';
import { listPluginHooks } from '../../src/plugins/active-plugins.ts';
import { readPluginHooks } from '../../src/plugins/plugin-hooks.ts';
import { read, toFiles, type Texts } from './support.ts';

const GEMINI: Texts = { 'gemini-extension.json': { name: 'gem', version: '1.0.0' } };

async function effectsOf(texts: Texts): Promise<readonly string[]> {
  return await describePlugin(read(texts), toFiles(texts));
}

test('the hooks of a Gemini extension are described as they run', async () => {
  const command = '${extensionPath}${/}guard.sh ${workspacePath}';
  const texts = {
    ...GEMINI,
    'hooks/hooks.json': {
      hooks: {
        BeforeTool: [{ matcher: 'Bash', hooks: [{ type: 'command', command, timeout: 5000 }] }],
        BeforeModel: [{ hooks: [{ type: 'command', command: 'true' }] }],
      },
    },
  };
  expect(await effectsOf(texts)).toEqual([
    'hook PreToolUse (Bash): runs in the sandbox ${CLAUDE_PLUGIN_ROOT}/guard.sh ${CLAUDE_PROJECT_DIR}',
    expect.stringMatching(/^! \$\{CLAUDE_PLUGIN_ROOT\}\/hooks\/hooks\.json: BeforeModel: /),
  ]);
  const { hooks } = readPluginHooks(listPluginHooks({ plugin: read(texts), root: '/plugins/gem' }));
  expect(hooks).toMatchObject([
    {
      event: 'PreToolUse',
      action: { kind: 'command', command: '${CLAUDE_PLUGIN_ROOT}/guard.sh ${CLAUDE_PROJECT_DIR}' },
      timeoutMs: 5000,
    },
  ]);
});

test('every shell part of a command is shown as it runs, under the name that is typed', async () => {
  const body = 'Go.\n\n```!\ntouch block\n```\n\n!`touch inline` no!`touch text`\n';
  const text = `---\ndescription: Ships.\nallowed-tools: Bash\n---\n${body}`;
  expect(
    await effectsOf({
      '.claude-plugin/plugin.json': { name: 'kit' },
      'commands/git/ship.md': text,
    }),
  ).toEqual([
    'slash command /kit:git:ship: Ships. (commands/git/ship.md)',
    '  runs in the shell when you type it: touch block',
    '  runs in the shell when you type it: touch inline',
    '  does nothing: allowed-tools: Bash — a command of a plugin allows nothing; your rules and the mode decide about its shell parts.',
    '  text that is sent as your message: 7 lines; read them in the file',
  ]);
  const prompt = 'prompt = "Go !{echo ${HOME}; touch hidden}"';
  expect(await effectsOf({ ...GEMINI, 'commands/go.toml': prompt })).toEqual([
    'slash command /gem:go: Go !{echo ${HOME}; touch hidden} (commands/go.toml)',
    '  runs in the shell when you type it: echo ${HOME}; touch hidden',
    '  text that is sent as your message: 1 line; read them in the file',
  ]);
});
