/** A provider that no longer exists, for settings that still name it. */
export interface RetiredProvider {
  /** The name that other tools use for it. */
  readonly name: string;
  readonly hosts: RegExp;
  /** The sentence that says what happened and what to do. */
  readonly notice: string;
}

const RETIRED_PROVIDERS: readonly RetiredProvider[] = [
  {
    name: 'github-models',
    hosts: /^models\.(?:github\.ai|inference\.ai\.azure\.com)$/,
    // https://github.blog/changelog/2026-07-30-github-models-is-now-retired/
    notice: 'GitHub Models was retired on 2026-07-30; choose another provider',
  },
];

/** Finds a retired provider by its name or its host; undefined: it is none. */
export function findRetiredProvider(nameOrHost: string): RetiredProvider | undefined {
  return RETIRED_PROVIDERS.find(({ name, hosts }) => name === nameOrHost || hosts.test(nameOrHost));
}
