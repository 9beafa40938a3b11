import type { UserSetting } from '../../../api/index.ts';

/** The settings of the user, which the UI shows and changes. */
export interface UserSettings {
  /** Reads the configuration again. Mistakes in its files are returned as problems. */
  readonly read: () => Promise<CurrentSettings>;
  /** Writes a setting into the user's file, or removes it with null. Rejects if nothing was written. */
  readonly change: (key: string, text: string | null) => Promise<SettingChange>;
}

export interface CurrentSettings {
  readonly settings: readonly UserSetting[];
  readonly problems: readonly string[];
}

export interface SettingChange {
  /** The setting after the change, with the value that is in force. */
  readonly setting: UserSetting;
  /** A sentence about what was done. */
  readonly done: string;
}
