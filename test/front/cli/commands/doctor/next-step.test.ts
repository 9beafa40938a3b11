import { expect, it } from 'vitest';
import { nextDoctorStep } from '../../../../../src/front/cli/commands/doctor/next-step.ts';
import { fail, ok, warn, type Check } from '../../../../../src/protocol/check.ts';

const MODEL = ok('model', 'acme/m');
const OFFLINE = warn('model', 'offline: it writes no code', 'set ANTHROPIC_API_KEY');
const SANDBOX = warn('sandbox', 'none', 'apt install bubblewrap');

it.each<[string, readonly Check[], string | RegExp]>([
  ['all is well', [ok('node', '24'), MODEL], /^everything is ready: .* muster -p "…"$/],
  ['there is no model', [fail('model', 'none', 'set A')], 'sign in to a provider: muster login'],
  ['only the offline engine answers', [OFFLINE, SANDBOX], 'sign in to a provider: muster login'],
  [
    'the chosen model is wrong',
    [ok('provider', 'acme'), fail('model', '--model: no model "x"', 'set A')],
    'model: --model: no model "x"',
  ],
  [
    'the configuration is wrong',
    [fail('config', 'config.toml:2: unknown key', 'correct it'), fail('model', 'none', 'set A')],
    'correct the configuration: config.toml:2: unknown key',
  ],
  ['Node is too old', [fail('node', '20', 'install Node 22'), SANDBOX], 'node: install Node 22'],
  ['there is no sandbox', [MODEL, SANDBOX], 'sandbox: apt install bubblewrap'],
  ['a sandbox is impossible', [MODEL, warn('sandbox', 'none', null)], 'sandbox: none'],
  [
    'a tool is missing',
    [MODEL, fail('ripgrep', 'no', 'install it'), SANDBOX],
    'ripgrep: install it',
  ],
  ['a small thing is missing', [MODEL, warn('git', 'not found', 'install git')], /^everything/],
])('the next step if %s', (_, checks, expected) => {
  expect(nextDoctorStep(checks)).toEqual(
    typeof expected === 'string' ? expected : expect.stringMatching(expected),
  );
});
