import { expect, it } from 'vitest';
import { supportsHyperlinks } from '../../../../src/front/tui/terminal/hyperlinks.ts';

it.each([
  [{}, false],
  [{ TERM: 'xterm-256color' }, false],
  [{ TERM: 'xterm-kitty' }, true],
  [{ TERM_PROGRAM: 'iTerm.app' }, true],
  [{ TERM_PROGRAM: 'Apple_Terminal' }, false],
  [{ VTE_VERSION: '7600' }, true],
  [{ VTE_VERSION: '4800' }, false],
  [{ WT_SESSION: 'x' }, true],
  [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, false],
  [{ TERM: 'tmux-256color', KITTY_WINDOW_ID: '1' }, false],
  [{ TERM: 'screen', WEZTERM_PANE: '1' }, false],
  [{ TMUX: '/tmp/tmux', FORCE_HYPERLINK: '1' }, true],
  [{ TERM: 'xterm-kitty', FORCE_HYPERLINK: '0' }, false],
])('the terminal of %j opens links: %s', (environment, isKnown) => {
  expect(supportsHyperlinks(environment)).toBe(isKnown);
});
