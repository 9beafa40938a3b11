import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changeUserSetting } from '../../src/api/setup/user-settings.ts';
import { changeSetting, findOverride } from '../../src/config/change-setting.ts';
import { readConfig } from '../../src/config/load.ts';
import { makePlace, write } from './support.ts';

const BEFORE = '# mine\n[terminal]\nhints = false # no hints\n';

describe('a setting of the user', () => {
  it('is set in a new file, which only the user can read', async () => {
    const { userFile } = makePlace();
    expect(await changeSetting(userFile, 'terminal.detail', 'short')).toEqual({
      key: 'terminal.detail',
      value: 'short',
      where: `${userFile}:2`,
      isChanged: true,
    });
    expect(readFileSync(userFile, 'utf8')).toBe('[terminal]\ndetail = "short"\n');
    expect(statSync(userFile).mode & 0o777).toBe(0o600);
  });

  it('is changed and removed, and the rest of the file stays', async () => {
    const { userFile } = makePlace({ user: BEFORE });
    await changeSetting(userFile, 'task_tool.max_cost_usd', '0.5');
    await changeSetting(userFile, 'terminal.hints', 'TRUE');
    await changeSetting(userFile, 'permissions.allow', '["Read", "Bash(npm test:*)"]');
    const after = `# mine\n[terminal]\nhints = true # no hints\n\n[task_tool]\nmax_cost_usd = 0.5\n\n[permissions]\nallow = ["Read", "Bash(npm test:*)"]\n`;
    expect(readFileSync(userFile, 'utf8')).toBe(after);
    const removed = await changeSetting(userFile, 'task_tool.max_cost_usd', null);
    expect(removed).toEqual({
      key: 'task_tool.max_cost_usd',
      value: null,
      where: userFile,
      isChanged: true,
    });
    expect(readFileSync(userFile, 'utf8')).toBe(after.replace('max_cost_usd = 0.5\n', ''));
  });

  it('is not written again if it has the value already', async () => {
    const { userFile } = makePlace({ user: BEFORE });
    const read = () => {
      const { ino, mtimeNs } = statSync(userFile, { bigint: true });
      return { ino, mtimeNs };
    };
    const before = read();
    expect(await changeSetting(userFile, 'terminal.hints', 'false')).toMatchObject({
      isChanged: false,
      where: `${userFile}:3`,
    });
    expect(await changeSetting(userFile, 'terminal.theme', null)).toMatchObject({
      isChanged: false,
    });
    expect(read()).toEqual(before);
  });

  it('replaces a wrong value', async () => {
    const { userFile } = makePlace({ user: '[terminal]\ndetail = 7\n' });
    await changeSetting(userFile, 'terminal.detail', 'full');
    expect(readFileSync(userFile, 'utf8')).toBe('[terminal]\ndetail = "full"\n');
  });

  it('is changed in the target of a link, and the link stays', async () => {
    const { root, userFile } = makePlace();
    const target = join(root, 'dotfiles', 'muster.toml');
    write(target, BEFORE);
    mkdirSync(dirname(userFile), { recursive: true });
    symlinkSync(target, userFile);
    await changeSetting(userFile, 'terminal.hints', 'true');
    expect(readFileSync(target, 'utf8')).toBe(BEFORE.replace('false', 'true'));
    expect(readlinkSync(userFile)).toBe(target);
  });

  it.each([
    ['terminal.hint', 'true', /there is no setting terminal\.hint; the nearest: terminal\.hints,/],
    ['terminal.hints.x', 'true', /there is no setting/],
    ['__proto__.x', 'true', /there is no setting/],
    ['terminal.hints', 'maybe', /terminal\.hints must be true or false, not "maybe"/],
    ['terminal.theme', 'pink', /must be one of auto, dark, light, not "pink"/],
    ['task_tool.max_depth', '99', /a whole number from 0 to 32, not "99"/],
    ['models.default', ' ', /models\.default must be a model id/],
  ])('is refused: %s = %j', async (key, value, expected) => {
    const { userFile } = makePlace({ user: BEFORE });
    await expect(changeSetting(userFile, key, value)).rejects.toThrow(expected);
    expect(readFileSync(userFile, 'utf8')).toBe(BEFORE);
  });

  it.each([
    ['no TOML', '[terminal\n', /correct it first: .*:1:.*not valid TOML/],
    ['another mistake', '[terminal]\nhint = 1\n', /correct it first: .*:2: unknown key "hint"/],
    ['an inline table', 'terminal = { hints = true }\n', /inline table: change it by hand/],
    [
      'comments inside of the value',
      '[terminal]\ntheme = [\n# why\n]\n',
      /terminal\.theme: its value contains comments: change it by hand\. Nothing was written/,
    ],
  ])('is not changed in a file with %s', async (_, before, expected) => {
    const { userFile } = makePlace({ user: before });
    await expect(changeSetting(userFile, 'terminal.theme', 'dark')).rejects.toThrow(expected);
    expect(readFileSync(userFile, 'utf8')).toBe(before);
    expect(readdirSync(dirname(userFile))).toEqual(['config.toml']);
  });

  it('is not changed in a file that is read-only', async () => {
    const { userFile } = makePlace({ user: BEFORE });
    chmodSync(userFile, 0o444);
    await expect(changeSetting(userFile, 'terminal.hints', 'true')).rejects.toThrow(
      /config\.toml is read-only: nobody may write it/,
    );
    expect(readFileSync(userFile, 'utf8')).toBe(BEFORE);
    expect(readdirSync(dirname(userFile))).toEqual(['config.toml']);
  });

  it('is kept although others are changed at the same time', async () => {
    const { home, userFile } = makePlace({ user: BEFORE });
    const user = { environment: {}, home };
    await Promise.all(
      [
        ['terminal.detail', 'short'],
        ['terminal.theme', 'light'],
        ['store.retention_days', '7'],
        ['provider.retries', '2'],
      ].map(([key = '', value = '']) => changeUserSetting(user, key, value)),
    );
    const { settings, problems } = await readConfig(
      makePlace({ user: readFileSync(userFile, 'utf8') }).inputs(),
    );
    expect(problems).toEqual([]);
    const values = [
      'terminal.hints',
      'terminal.detail',
      'terminal.theme',
      'store.retention_days',
      'provider.retries',
    ];
    expect(values.map((key) => settings.get(key)?.value)).toEqual([false, 'short', 'light', 7, 2]);
  });
});

it.each([
  [{}, null],
  [{ MUSTER_TERMINAL_DETAIL: 'full' }, 'MUSTER_TERMINAL_DETAIL'],
])('names what overrides the file: %j', async (environment, override) => {
  const place = makePlace({ user: BEFORE });
  const changed = await changeSetting(place.userFile, 'terminal.detail', 'short');
  const loaded = await readConfig(place.inputs({ environment }));
  expect(findOverride(loaded, changed)).toBe(override);
  const allowed = await changeSetting(place.userFile, 'permissions.allow', 'Read');
  expect(findOverride(loaded, allowed)).toBeNull();
});
