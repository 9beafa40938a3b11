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
