import { formatTomlString, formatTomlValue } from './edit-toml.ts';
import type { ModelOverride, ProviderSettings } from '../model/settings/model-settings.ts';

/** The settings of a provider and of one of its models, as a part of a configuration file. */
export interface ProviderFragment {
  readonly name: string;
  /** The settings of `[models.providers.NAME]`; null: that table is not needed. */
  readonly provider: ProviderSettings | null;
  /** The id of the model. */
  readonly modelId: string;
  /** The settings of `[models.catalogue."NAME/MODEL"]`; null: that table is not needed. */
  readonly model: Pick<ModelOverride, 'contextWindow' | 'outputLimit' | 'attachments'> | null;
}

type TomlValue = string | number | readonly string[] | undefined;

/** Formats a part of a configuration file in TOML. Returns an empty text if no table is needed. */
export function formatProviderFragment(fragment: ProviderFragment): string {
  const { name, provider, modelId, model } = fragment;
  return [
    provider === null
      ? ''
      : formatTable(['models', 'providers', name], {
          base_url: provider.baseUrl,
          kind: provider.kind,
          api_key_env: provider.apiKeyEnv,
          omit: provider.omit,
        }),
    model === null
      ? ''
      : formatTable(['models', 'catalogue', `${name}/${modelId}`], {
          context_window: model.contextWindow,
          output_limit: model.outputLimit,
          attachments: model.attachments,
        }),
  ]
    .filter((table) => table !== '')
    .join('\n');
}

function formatTable(path: readonly string[], values: Readonly<Record<string, TomlValue>>): string {
  const lines = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${formatTomlValue(value)}\n`],
  );
  return `[${path.map(formatKey).join('.')}]\n${lines.join('')}`;
}

function formatKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : formatTomlString(key);
}
