import type { Environment } from '../../../sys/env.ts';

/** The version of the library of GNOME's terminals (0.50) since which they open links. */
const FIRST_VTE = 5_000;
const PROGRAMS: ReadonlySet<string> = new Set([
  'alacritty',
  'ghostty',
  'iTerm.app',
  'vscode',
  'WarpTerminal',
  'WezTerm',
  'zed',
]);
const TERMS: ReadonlySet<string> = new Set([
  'alacritty',
  'foot',
  'foot-extra',
  'xterm-ghostty',
  'xterm-kitty',
]);
const VARIABLES = ['GHOSTTY_RESOURCES_DIR', 'KITTY_WINDOW_ID', 'WEZTERM_PANE', 'WT_SESSION'];

/**
 * Whether the terminal is known to open links (OSC 8). A terminal that does not know them would hide their targets, and
 * tmux and screen do not say whether they pass them on. `FORCE_HYPERLINK` decides if it is set: `0` for no, others for yes.
 */
export function supportsHyperlinks(environment: Environment): boolean {
  const { FORCE_HYPERLINK, LC_TERMINAL, TERM = '', TERM_PROGRAM = '', VTE_VERSION } = environment;
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  if (isSet('FORCE_HYPERLINK')) return FORCE_HYPERLINK !== '0';
  if (isSet('TMUX') || isSet('STY') || /^(?:tmux|screen|dumb)/.test(TERM)) return false;
  return (
    PROGRAMS.has(TERM_PROGRAM) ||
    TERMS.has(TERM) ||
    LC_TERMINAL === 'iTerm2' ||
    VARIABLES.some(isSet) ||
    Number(VTE_VERSION ?? 0) >= FIRST_VTE
  );
}
