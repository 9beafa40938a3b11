import { toPrintableJson } from '../../../base/printable-json.ts';
import { UsageError } from '../../../base/errors.ts';
import { defineCommand } from '../command.ts';
import type { FlagReader } from '../flag-reader.ts';
import type { FlagName } from '../flags.ts';
import { configOptions, PROJECT_FLAGS } from '../run-options.ts';
import type { ProbeOptions } from './doctor/probe.ts';

/** The flags that have a meaning only together with `--provider`. */
const PROBE_FLAGS: readonly FlagName[] = ['api-key-env', 'write', 'yes'];
const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/;

/** `muster doctor`: runs all checks, even if a check fails, or probes one provider. The exit code is then 1. */
export const doctorCommand = defineCommand({
  words: 'doctor',
  summary: 'check that everything a run needs is there, or what a provider supports',
  operands: [],
  flags: [
    'provider',
    'model',
    ...PROBE_FLAGS,
    'json',
    'fallback-model',
    'sandbox',
    ...PROJECT_FLAGS,
    'data-dir',
  ],
  flagDetails: {
    model: {
      help: 'the model of a run (provider/model, an id, a tier); with --provider: the id to ask',
    },
    yes: { help: 'with --provider: send the requests without asking' },
  },
  examples: [
    'muster doctor',
    'muster doctor --sandbox container',
    'muster doctor --provider http://localhost:8080/v1',
    'muster doctor --provider openrouter --model openai/gpt-oss-20b',
  ],
  parse: ({ flags }) => ({
    json: flags.has('json'),
    ...configOptions(flags),
    probe: probeOptions(flags),
  }),
  run: async ({ probe, ...options }, context) => {
    if (probe !== null) {
      const { probeAndPrint } = await import('./doctor/probe.ts');
      return probeAndPrint(probe, options, context);
    }
    const { checkMachine, processProbes } = await import('./doctor/checks.ts');
    const { json, text, code = 0 } = await checkMachine(options, context, processProbes(context));
    context.out(options.json ? `${toPrintableJson(json, 2)}\n` : text);
    return code;
  },
});

function probeOptions(flags: FlagReader): ProbeOptions | null {
  const provider = flags.text('provider');
  const apiKeyEnv = flags.text('api-key-env');
  if (apiKeyEnv !== null && !VARIABLE_NAME.test(apiKeyEnv)) {
    // The value may be the key itself.
    throw new UsageError('--api-key-env must be the name of a variable, such as ACME_API_KEY');
  }
  if (provider !== null) {
    return {
      provider,
      model: flags.text('model'),
      apiKeyEnv,
      isWritten: flags.has('write'),
      isConfirmed: flags.has('yes'),
    };
  }
  const [stray] = flags.findGivenFlags(PROBE_FLAGS);
  if (stray !== undefined) throw new UsageError(`${stray} needs --provider URL|NAME`);
  return null;
}
