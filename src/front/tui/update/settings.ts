import type { UserSetting } from '../../../api/index.ts';
import {
  DETAILS,
  NOTIFY,
  THEME_CHOICES,
  THINKING_DISPLAYS,
  type TerminalSettings,
} from '../../../protocol/terminal-settings.ts';
import type { AppState } from '../model/app-state.ts';
import { textDialog } from '../model/dialog.ts';
import type { PickerItem } from '../model/picker.ts';
import type { UiMessage } from './message.ts';
import { pickSetting, pickSettingValue } from './open-picker.ts';
import { formatSettingValue, isTerminalSetting, TERMINAL_SECTION } from './setting-items.ts';
import { addNote, andThen, changeTerminal, hint, next, type Update } from './step.ts';

/** Opens what changes the setting of an item: a list of its values, or a line to type. */
export function editSetting(state: AppState, item: PickerItem): Update {
  const { setting } = item;
  if (setting === undefined) return next(state);
  if (setting.choices !== null) return pickSettingValue(state, item, setting);
  return next({ ...state, dialog: settingDialog(setting) });
}

function settingDialog(setting: UserSetting) {
  const { key, value, meaning, expects, source } = setting;
  return textDialog({
    subject: 'setting',
    title: key,
    lines: [
      meaning,
      '',
      `takes    ${expects}`,
      `now      ${formatSettingValue(setting)}, from ${source}`,
      `default  ${setting.default}`,
      'An empty line removes the setting from your file.',
    ],
    text: value === null || source === 'default' ? '' : editedText(value),
  });
}

function editedText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `/config [KEY [VALUE]]` */
export function configure(state: AppState, argument: string): Update {
  const [key = '', ...words] = argument.split(/\s+/);
  const text = words.join(' ');
  if (text !== '') return next(state, { type: 'change-setting', key, text, isListed: false });
  if (state.surface === 'screen') return pickSetting(state, key === '' ? null : key);
  return next(state, { type: 'list-settings' });
}

/** Handles the outcome of writing a setting. */
export function receiveSetting(
  state: AppState,
  message: Extract<UiMessage, { type: 'setting-changed' | 'setting-refused' }>,
): Update {
  return message.type === 'setting-changed'
    ? applySetting(state, message)
    : refuseSetting(state, message.problem);
}

/** Applies a setting that was written, and shows the list of settings again if it was changed there. */
function applySetting(
  state: AppState,
  { setting, done, isListed }: Extract<UiMessage, { type: 'setting-changed' }>,
): Update {
  const change = terminalChange(setting);
  const applied = change === null ? state : changeTerminal(state, change);
  const when = change === null ? '; it applies after /restart' : '';
  const theme = change?.theme;
  const effects = theme === undefined ? [] : [{ type: 'use-theme', theme } as const];
  const noted = addNote({ ...applied, dialog: null }, 'info', `${done}${when}`);
  return andThen(next(noted, ...effects), (shown) =>
    isListed && state.surface === 'screen'
      ? andThen(pickSetting(shown, setting.key), (listed) => hint(listed, `saved${when}`))
      : next(shown),
  );
}

/** Shows why a setting was not written: in the line that is being typed, or as a note. */
function refuseSetting(state: AppState, problem: string): Update {
  const { dialog } = state;
  if (dialog?.kind === 'text') return next({ ...state, dialog: { ...dialog, problem } });
  return next(addNote(state, 'warning', problem));
}

/** Returns the change of the terminal UI that a setting means; null if it belongs to something else. */
function terminalChange({ key, value }: UserSetting): Partial<TerminalSettings> | null {
  if (!isTerminalSetting(key)) return null;
  const name = key.slice(TERMINAL_SECTION.length);
  switch (name) {
    case 'title':
    case 'hints':
      return { [name]: value === true };
    case 'theme':
      return pick(THEME_CHOICES, value, (theme) => ({ theme }));
    case 'detail':
      return pick(DETAILS, value, (detail) => ({ detail }));
    case 'thinking':
      return pick(THINKING_DISPLAYS, value, (thinking) => ({ thinking }));
    case 'notify':
      return pick(NOTIFY, value, (notify) => ({ notify }));
    default:
      return null;
  }
}

function pick<Choice extends string>(
  choices: readonly Choice[],
  value: unknown,
  change: (choice: Choice) => Partial<TerminalSettings>,
): Partial<TerminalSettings> | null {
  const choice = choices.find((each) => each === value);
  return choice === undefined ? null : change(choice);
}
