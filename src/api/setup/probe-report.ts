import { systemClock } from '../../base/clock.ts';
import { Deadlines } from '../../base/deadlines.ts';
import { VERSION } from '../../base/version.ts';
import { appendToConfigFile } from '../../config/append-config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { userConfigFile } from '../../config/paths.ts';
import { formatProviderFragment } from '../../config/provider-toml.ts';
import { requestModels } from '../../model/listing/request-models.ts';
import { probeProvider, type ProbePlan } from '../../model/probe/probe-provider.ts';
import { warn, type Check } from '../../protocol/check.ts';
import type { Usage } from '../../protocol/model.ts';
import { createRedactor } from '../../store/redact/redactor.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import { stateDirectory, type StateOptions } from '../../trust/state-directory.ts';
import { loadKeyReader, readAccounts } from './accounts.ts';
import { createProbeFragment, nextProbeStep } from './probe-fragment.ts';
import { findProbeTarget, type ProbeWish } from './probe-target.ts';
import { listSecretForms, listSecretValues } from './secrets.ts';
import { createModelPortLimits, createModelSettings } from './settings.ts';

/** The time limit for the list of models, in milliseconds. */
const LIST_MS = 20_000;

export interface ProviderProbeOptions extends ProbeWish {
  /** The options that locate the state directory. */
  readonly state: StateOptions;
  /** True to append the configuration to the file of the user. */
  readonly isWritten: boolean;
  /** Takes each check as soon as it is made. */
  onCheck(check: Check): void;
  /** Asks whether the requests that cost tokens may be sent. */
  confirm(plan: PlannedProbe): Promise<boolean>;
}

/** The requests that are about to be sent, for a question to the user. */
export interface PlannedProbe {
  readonly baseUrl: string;
  readonly model: string;
  readonly maxRequests: number;
  /** The maximum number of tokens of each answer. */
  readonly maxOutput: number;
  /** True for a server on this machine or network, whose answers cost nothing. */
  readonly isPrivate: boolean;
}

/** The report of a probe. No text in it contains a key. */
export interface ProviderProbeReport {
  readonly ok: boolean;
  readonly provider: {
    /** The name for the configuration and for flags. */
    readonly name: string;
    readonly baseUrl: string;
    readonly protocol: string;
  };
  /** The id of the model that was asked; null: none was. */
  readonly model: string | null;
  readonly checks: readonly Check[];
  /** The number of requests to models. */
  readonly requests: number;
  /** The tokens that they used, as far as the server reports them. */
  readonly usage: Usage;
  /** False if the server did not report the usage of an answer. */
  readonly isUsageComplete: boolean;
  /** The configuration to keep, in TOML; null: no answer came, or the defaults are right. */
  readonly config: string | null;
  /** The configuration file of the user. */
  readonly configFile: string;
  /** The file to which the configuration was appended; null: to none. */
  readonly written: string | null;
  readonly next: string;
}

/**
 * Probes a provider with a few small requests, and finds the configuration that it needs. Throws UsageError for an
 * unknown provider or a wrong URL, and MusterError if the configuration cannot be written.
 */
export async function reportProviderProbe(
  loaded: LoadedConfig,
  options: ProviderProbeOptions,
): Promise<ProviderProbeReport> {
  const { environment, home } = options.state;
  const secrets = [...listSecretValues(environment)];
  const redact = createRedactor({ secrets });
  const onKey = (key: string): void => void secrets.push(...listSecretForms(key));
  const notices: string[] = [];
  const addNotice = (notice: string): void => void notices.push(notice);
  const accounts = readAccounts(stateDirectory(options.state), addNotice, options.state);
  for (const { key } of accounts) if (key !== null) onKey(key);
  const settings = createModelSettings(loaded);
  const found = findProbeTarget(options, { settings, environment, accounts });
  for (const { apiKey } of found.target.candidates) if (apiKey !== null) onKey(apiKey);
  const clean = (check: Check): Check => ({
    ...check,
    detail: redact(check.detail),
    fix: check.fix === null ? null : redact(check.fix),
  });
  const early = notices.map((notice) => clean(warn('accounts', notice, null)));
  for (const check of early) options.onCheck(check);
  const fetch = createHttpFetch(environment);
  const keys = loadKeyReader({ environment, home, clock: systemClock, fetch, onKey });
  const deps = { fetch, clock: systemClock, keys };
  const report = await probeProvider(found.target, {
    ...deps,
    environment,
    deadlines: new Deadlines(systemClock),
    version: VERSION,
    limits: createModelPortLimits(loaded.config),
    listModels: (provider) =>
      requestModels(provider, deps, { timeoutMs: LIST_MS, isDetailed: true }),
    onCheck: (check) => options.onCheck(clean(check)),
    confirm: (plan) => options.confirm(describePlan(plan, redact)),
  });
  const fragment = await createProbeFragment(found, report, loaded.config);
  const config = fragment === null ? '' : redact(formatProviderFragment(fragment));
  const path = userConfigFile({ environment, home });
  const isWritten = options.isWritten && fragment !== null && config !== '';
  if (isWritten) await appendToConfigFile(path, fragment);
  const { checks, model, requests, usage, isUsageComplete, provider } = report;
  return {
    ok: report.findings !== null && checks.every(({ status }) => status !== 'fail'),
    provider: {
      name: found.name,
      baseUrl: redact(report.findings?.learned.baseUrl ?? provider.baseUrl),
      protocol: provider.protocol,
    },
    model: model === null ? null : redact(model),
    checks: [...early, ...checks.map(clean)],
    requests,
    usage,
    isUsageComplete,
    config: config === '' ? null : config,
    configFile: path,
    written: isWritten ? path : null,
    next: redact(nextProbeStep(found.name, report, { path, hasTables: config !== '', isWritten })),
  };
}

function describePlan(
  { provider, model, maxRequests, maxOutput }: ProbePlan,
  redact: (text: string) => string,
): PlannedProbe {
  const { baseUrl, isPrivate } = provider;
  return { baseUrl: redact(baseUrl), model: redact(model), maxRequests, maxOutput, isPrivate };
}
