import type { ModelSettings } from '../../model/providers.ts';
import type { LoadedConfig } from './load.ts';

/** `[models]` as the model layer takes it, where a flag is told from a file's or variable's default. */
export function modelSettings({ config, settings }: LoadedConfig): ModelSettings {
  const { default: main, fast, balanced, powerful, providers } = config.models;
  const isFlag = settings.get('models.default')?.source.kind === 'flag';
  return {
    ...(main === null ? {} : { [isFlag ? 'flag' : 'default']: main }),
    ...(fast === null ? {} : { fast }),
    ...(balanced === null ? {} : { balanced }),
    ...(powerful === null ? {} : { powerful }),
    providers: Object.fromEntries(providers),
  };
}
