import { systemClock } from '../../../src/base/clock.ts';
import { createKeyReader } from '../../../src/keys/key-reader.ts';
import { createModelPort } from '../../../src/model/model-port.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import type { Environment } from '../../../src/sys/env.ts';
import { adapterDeps } from '../adapters/support.ts';

const LIMITS = {
  connectMs: 20_000,
  firstTokenMs: 20_000,
  privateFirstTokenMs: 20_000,
  streamIdleMs: 20_000,
};

/** The home of a person without files of any cloud. */
const EMPTY_HOME = '/nonexistent';

interface CloudSetup {
  readonly settings?: Readonly<Record<string, ProviderSettings>>;
  readonly env?: Environment;
  readonly home?: string;
  /** The time in milliseconds since the epoch. Default: now. */
  readonly now?: () => number;
}

/** Connects to the clouds of settings and variables, with the real reader of their credentials. */
export function connectClouds({ settings = {}, env = {}, home = EMPTY_HOME, now }: CloudSetup) {
  const environment = { PATH: process.env['PATH'], HOME: home, ...env };
  const secrets: string[] = [];
  const clock = now === undefined ? systemClock : { ...systemClock, now };
  const fetch = createHttpFetch(environment);
  const providers = discoverProviders({ providers: settings }, environment);
  const port = createModelPort({
    ...adapterDeps(),
    fetch,
    clock,
    providers,
    limits: LIMITS,
    admission: { maxConcurrent: 64, requestsPerMinute: 0 },
    keys: createKeyReader({
      environment,
      home,
      clock,
      fetch,
      onKey: (key) => void secrets.push(key),
    }),
  });
  return { port, providers, secrets };
}
