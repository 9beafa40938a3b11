import type { KeySpec } from './key-kinds.ts';
import { SECTIONS } from './keys.ts';
import type { Layer } from './layer.ts';
import type { Setting } from './setting.ts';

type Sections = typeof SECTIONS;
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;
type ValueOf<S> = S extends KeySpec<infer T> ? T : never;

/** The value of each key, under the camel-case name of its section and key: `settings.taskTool.maxDepth`. */
type Settings = {
  readonly [S in keyof Sections as CamelCase<S>]: {
    readonly [K in keyof Sections[S] & string as CamelCase<K>]: ValueOf<Sections[S][K]>;
  };
};

/** The full configuration as one immutable value. */
export type Config = Settings & {
  readonly models: Pick<Layer, 'providers' | 'catalogue'>;
  readonly keyBindings: Layer['keyBindings'];
  readonly mcp: Layer['mcp'];
};

/**
 * Builds the configuration. Throws if a key has no valid value. This would be a defect of this module, because every
 * layer was checked.
 */
export function buildConfig(
  settings: ReadonlyMap<string, Setting>,
  {
    providers,
    catalogue,
    keyBindings,
    mcp,
  }: Pick<Layer, 'providers' | 'catalogue' | 'keyBindings' | 'mcp'>,
): Config {
  const values = Object.fromEntries(
    Object.entries(SECTIONS).map(([section, specs]) => [
      camelCase(section),
      Object.fromEntries(
        Object.keys(specs).map((name) => [
          camelCase(name),
          settings.get(`${section}.${name}`)?.value,
        ]),
      ),
    ]),
  );
  assertSettings(values);
  return { ...values, models: { ...values.models, providers, catalogue }, keyBindings, mcp };
}

function assertSettings(
  values: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): asserts values is Settings {
  for (const [section, specs] of Object.entries<Readonly<Record<string, KeySpec<unknown>>>>(
    SECTIONS,
  )) {
    for (const [name, spec] of Object.entries(specs)) {
      if (!spec.accepts(values[camelCase(section)]?.[camelCase(name)])) {
        throw new Error(`${section}.${name} has no valid value`);
      }
    }
  }
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
