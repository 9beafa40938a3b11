import {
  loadModelReports,
  type PlannedProbe,
  type ProviderProbeReport,
} from '../../../../api/index.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { plural } from '../../../../base/text.ts';
import type { Check } from '../../../../protocol/check.ts';
import { refuseAgents, type CommandContext } from '../../command.ts';
import { loadConfiguration, stateLocation } from '../../configuration.ts';
import type { ConfigOptions } from '../../run-options.ts';

/** The options of `muster doctor --provider`. */
export interface ProbeOptions {
  /** The name of a provider, or a base URL. */
  readonly provider: string;
  /** The id of the model; null: one is chosen. */
  readonly model: string | null;
  readonly apiKeyEnv: string | null;
  readonly isWritten: boolean;
  /** True if the user need not be asked before requests that cost. */
  readonly isConfirmed: boolean;
}

interface DoctorOptions extends ConfigOptions {
  readonly json: boolean;
}

/** Probes a provider, and prints each check as soon as it is made. Returns the exit code: 1 if a check fails. */
export async function probeAndPrint(
  probe: ProbeOptions,
  options: DoctorOptions,
  context: CommandContext,
): Promise<number> {
  const { environment, confirm, out } = context;
  refuseAgents(environment, 'send requests to a provider with your keys');
  const loaded = await loadConfiguration(options, context);
  const { provider, model, apiKeyEnv, isWritten, isConfirmed } = probe;
  const { reportProviderProbe } = await loadModelReports();
  const report = await reportProviderProbe(loaded, {
    state: stateLocation(options, context),
    provider,
    model,
    apiKeyEnv,
    isWritten,
    onCheck: (check) => {
      if (!options.json) out(checkLine(check));
    },
    confirm: async (plan) => {
      if (isConfirmed || confirm === null || plan.isPrivate) return true;
      return confirm(planQuestion(plan));
    },
  });
  out(options.json ? `${toPrintableJson(report, 2)}\n` : summaryText(report, probe));
  return report.ok ? 0 : 1;
}

/** The width of the longest name of a check. */
const NAME_WIDTH = 'other protocols'.length;

function checkLine({ status, name, detail, fix }: Check): string {
  const text = fix === null ? detail : `${detail} → ${fix}`;
  return `${status.padEnd(4)}  ${name.padEnd(NAME_WIDTH)}  ${text}\n`;
}

function planQuestion({ baseUrl, model, maxRequests, maxOutput }: PlannedProbe): string {
  const { host } = new URL(baseUrl);
  return `So far, no request was sent to a model, and no token was used. At most ${maxRequests} small requests to ${model} at ${host} follow, with answers of at most ${maxOutput} tokens. Continue? [y/N] `;
}

function summaryText(report: ProviderProbeReport, { isWritten }: ProbeOptions): string {
  const texts = configTexts(report, isWritten);
  return ['', `${costText(report)}\n`, ...texts, `next: ${report.next}\n`].join('\n');
}

function costText({ requests, usage, isUsageComplete }: ProviderProbeReport): string {
  if (requests === 0) return 'No request was sent to a model.';
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const sent = `${plural(requests, 'request')} to the model`;
  if (!isUsageComplete && input === 0) {
    return `${sent} of a few hundred tokens each. The server does not report what they used.`;
  }
  const rest = isUsageComplete ? '' : ', as far as the server reports it';
  return `${sent} used ${plural(input, 'token')} in and ${usage.output} out${rest}.`;
}

function configTexts(
  { config, configFile, written }: ProviderProbeReport,
  isWritten: boolean,
): readonly string[] {
  if (config === null) return isWritten ? ['There is no configuration to write.\n'] : [];
  const title =
    written === null ? `# The configuration to keep, for ${configFile}:` : `# Added to ${written}:`;
  return [`${title}\n${config}`];
}
