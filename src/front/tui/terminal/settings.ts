import { errorMessage } from '../../../base/errors.ts';
import { formatSettingValue, settingItems } from '../update/setting-items.ts';
import type { EffectOf, EffectOptions } from './effect-options.ts';

type SettingEffectOptions = Pick<EffectOptions, 'settings' | 'state' | 'dispatch'>;

/** The effects that read and write the settings of the user. */
export class SettingEffects {
  private readonly options: SettingEffectOptions;

  constructor(options: SettingEffectOptions) {
    this.options = options;
  }

  /** Fills the list of settings that is open; without one, adds a page with the settings that are not the defaults. */
  async list(): Promise<void> {
    const { settings: source, state, dispatch } = this.options;
    if (source === null) throw new Error(UNAVAILABLE);
    const { settings, problems } = await source.read();
    if (state().picker?.kind === 'settings') {
      const note = problems.join('; ');
      dispatch({
        type: 'picker-filled',
        kind: 'settings',
        items: settingItems(settings),
        isLoading: false,
        note,
      });
      return;
    }
    const changed = settings.filter((each) => each.source !== 'default');
    const lines = [
      ...changed.map((each) => `${each.key} = ${formatSettingValue(each)}  (${each.source})`),
      ...(changed.length === 0 ? ['all have their defaults'] : []),
      ...problems,
      '/config KEY VALUE changes one; all of them: muster config show',
    ];
    dispatch({ type: 'page', title: 'Settings', lines });
  }

  async change({ key, text, isListed }: EffectOf<'change-setting'>): Promise<void> {
    const { settings: source, dispatch } = this.options;
    try {
      if (source === null) throw new Error(UNAVAILABLE);
      const { setting, done } = await source.change(key, text);
      dispatch({ type: 'setting-changed', setting, done, isListed });
    } catch (thrown) {
      dispatch({ type: 'setting-refused', problem: errorMessage(thrown) });
    }
  }
}

const UNAVAILABLE = 'settings cannot be changed here: muster config set KEY VALUE does it';
