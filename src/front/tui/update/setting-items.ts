import { basename } from 'node:path';
import type { UserSetting } from '../../../api/index.ts';
import { THEME_CHOICES, type ThemeChoice } from '../../../protocol/terminal-settings.ts';
import type { PickerItem } from '../model/picker.ts';

/** The beginning of the keys of the terminal UI. */
export const TERMINAL_SECTION = 'terminal.';

/** Whether a setting belongs to the terminal UI, which applies it at once. */
export function isTerminalSetting(key: string): boolean {
  return key.startsWith(TERMINAL_SECTION);
}

/** The settings, each with its value and the source of the value. */
export function settingItems(settings: readonly UserSetting[]): readonly PickerItem[] {
  return settings.map((setting) => {
    const { key, source, meaning, expects } = setting;
    const applies = isTerminalSetting(key) ? 'at once' : 'after /restart, or at the next start';
    const facts = [
      `value    ${formatSettingValue(setting)}`,
      `from     ${source}`,
      `default  ${setting.default}`,
      `takes    ${expects}`,
      `applies  ${applies}`,
    ];
    return {
      id: key,
      title: key,
      cells: [formatSettingValue(setting), shortSource(source)],
      searched: meaning,
      setting,
      preview: [
        { label: '', text: meaning },
        { label: 'facts', text: facts.join('\n') },
      ],
    };
  });
}

/** Formats a value as TOML would show it, or says how the value of a key is decided that is not set. */
export function formatSettingValue({ value, default: byDefault }: UserSetting): string {
  return value === null ? `(${byDefault})` : JSON.stringify(value);
}

/** Leaves out the directories of a file. Returns an empty text for the default. */
function shortSource(source: string): string {
  if (source === 'default') return '';
  return source.includes(', ') ? 'several' : basename(source);
}

/** The id of the item that removes a setting from the file. */
export const UNSET = '(default)';

/** The values of a setting that has only a few, and the removal of the setting. */
export function settingValueItems({
  key,
  choices,
  value,
  meaning,
  default: byDefault,
}: UserSetting): readonly PickerItem[] {
  const preview = [{ label: key, text: meaning }];
  const removes = `removes ${key} from your file, so that the default ${byDefault} applies`;
  return [
    ...(choices ?? []).map((choice) => choiceItem(choice, choice === String(value), preview)),
    { id: UNSET, title: UNSET, cells: [], preview: [{ label: '', text: removes }] },
  ];
}

/** The themes. `current` is the one in use. */
export function themeItems(current: ThemeChoice): readonly PickerItem[] {
  return THEME_CHOICES.map((theme) => choiceItem(theme, theme === current, []));
}

function choiceItem(
  text: string,
  isInUse: boolean,
  preview: NonNullable<PickerItem['preview']>,
): PickerItem {
  const item: PickerItem = { id: text, title: text, cells: [], preview };
  return isInUse ? { ...item, mark: 'in use' } : item;
}
