import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeSetting, type ChangedSetting } from '../../config/change-setting.ts';
import { userConfigFile, type UserEnvironment } from '../../config/paths.ts';
import { withDirectoryLock } from '../../store/locks/directory-lock.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { toRealPath } from '../../sys/files/real-path.ts';

/**
 * Sets a key in the user's configuration file, or removes it with `text` null, while no other Muster of this machine does.
 * Throws what `changeSetting` throws.
 */
export async function changeUserSetting(
  user: UserEnvironment,
  key: string,
  text: string | null,
): Promise<ChangedSetting> {
  const path = userConfigFile(user);
  const directory = dirname(path);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw toFileError(directory, thrown);
  }
  return withDirectoryLock(
    toRealPath(directory),
    (ms) => sleep(ms),
    () => changeSetting(path, key, text),
  );
}
