import { expect, it } from 'vitest';
import { clipboardWays, copyToClipboard } from '../../../../src/front/tui/terminal/clipboard.ts';

const X11 = { program: 'xclip', args: ['-selection', 'clipboard'] };
const TMUX = { program: 'tmux', args: ['load-buffer', '-w', '-'] };
const KNOWN = { program: null, isKnown: true };
const UNKNOWN = { program: null, isKnown: false };

it.each([
  [{ TERM: 'xterm-kitty', DISPLAY: ':0' }, 'linux', [KNOWN, X11]],
  [{ TERM: 'xterm-256color', DISPLAY: ':0' }, 'linux', [X11, UNKNOWN]],
  [
    { TERM: 'xterm-256color', DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-0' },
    'linux',
    [{ program: 'wl-copy', args: [] }, X11, UNKNOWN],
  ],
  [{ TERM: 'screen', TMUX: '/tmp/tmux', TERM_PROGRAM: 'WezTerm' }, 'linux', [TMUX, UNKNOWN]],
  [{ TERM: 'xterm-256color' }, 'darwin', [{ program: 'pbcopy', args: [] }, UNKNOWN]],
  [{}, 'linux', [UNKNOWN]],
] as const)('with %j on %s the ways are %j', (environment, platform, ways) => {
  expect(clipboardWays(environment, { platform, bytes: 10 })).toEqual(ways);
});

it('does not send a large text through the terminal', () => {
  const size = { platform: 'linux', bytes: 100_000 } as const;
  expect(clipboardWays({ TERM: 'xterm-kitty', DISPLAY: ':0' }, size)).toEqual([X11]);
});

it('sends a text through the terminal as data, so that it controls nothing', async () => {
  const written: string[] = [];
  const said = await copyToClipboard(
    '\u001b]2;title\u0007',
    { TERM: 'xterm-kitty' },
    (sequence) => void written.push(sequence),
  );
  expect([said, ...written]).toEqual([
    'copied through the terminal (10 bytes)',
    '\u001b]52;c;G10yO3RpdGxlBw==\u0007',
  ]);
});

it('says what to install if there is no way', async () => {
  expect(await copyToClipboard('text', { PATH: '/nowhere', DISPLAY: ':0' }, null)).toBe(
    'not copied (4 bytes): install wl-copy or xclip, or use /export',
  );
});
