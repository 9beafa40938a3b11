import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import { convertHooks, HOOK_PRODUCTS } from '../../src/hooks/product-hooks.ts';

function convert(name: string, content: JsonValue) {
  const product = HOOK_PRODUCTS.find((each) => each.name === name);
  if (product === undefined) throw new Error(`no product ${name}`);
  const { groups, missing } = convertHooks(product, content);
  return { groups: Object.fromEntries(groups), missing };
}

const hook = (command: string, fields = {}) => ({ type: 'command', command, ...fields });

describe('hooks of another product', () => {
  it.each<[string, string, JsonValue, ReturnType<typeof convert>]>([
    [
      'have the names and the seconds of Claude Code',
      'Gemini CLI',
      {
        theme: 'dark',
        hooks: {
          BeforeTool: [
            {
              matcher: 'write_file',
              sequential: true,
              hooks: [hook('"$GEMINI_PROJECT_DIR"/a.sh', { name: 'a', timeout: 1500 })],
            },
          ],
          AfterAgent: [{ hooks: [hook('b')] }],
          BeforeModel: [{ hooks: [hook('c')] }],
        },
      },
      {
        groups: {
          PreToolUse: [
            {
              matcher: 'write_file',
              hooks: [hook('"$CLAUDE_PROJECT_DIR"/a.sh', { timeout: 2 })],
            },
          ],
          Stop: [{ hooks: [hook('b')] }],
        },
        missing: ['BeforeModel: Muster has no such moment.'],
      },
    ],
    [
      'may stand without the key hooks',
      'Factory Droid',
      { PostToolUse: [{ matcher: 'Edit', hooks: [hook('f', { timeout: 30 })] }], version: 1 },
      {
        groups: { PostToolUse: [{ matcher: 'Edit', hooks: [hook('f', { timeout: 30 })] }] },
        missing: [],
      },
    ],
    [
      'are the same in the same format',
      'Codex',
      { hooks: { Stop: [{ hooks: [hook('s')] }], Setup: [], FileChanged: [] } },
      {
        groups: { Stop: [{ hooks: [hook('s')] }] },
        missing: [
          'Setup: Muster has no separate run that sets up a project.',
          'FileChanged: Nobody watches files on the disk yet. PostToolUse comes after each call.',
        ],
      },
    ],
    [
      'are left out if they read other fields',
      'Cursor',
      { version: 1, hooks: { beforeShellExecution: [{ command: './a' }] } },
      {
        groups: {},
        missing: [
          'beforeShellExecution: its hooks read other fields and answer in another format: write them anew',
        ],
      },
    ],
    ['of a wrong shape are none', 'Codex', { hooks: 'x' }, { groups: {}, missing: [] }],
    [
      'must be lists',
      'Codex',
      { hooks: { Stop: 1, constructor: [] } },
      {
        groups: {},
        missing: ['Stop: it is not a list', 'constructor: Muster has no such moment.'],
      },
    ],
  ])('%s', (_, name, content, expected) => {
    expect(convert(name, content)).toEqual(expected);
  });
});
