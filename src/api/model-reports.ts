/** The functions that report on models and providers to front ends. */
export { reportListedModels } from './setup/listed-models.ts';
export { reportModels } from './setup/models-report.ts';
export { reportProviderProbe } from './setup/probe-report.ts';
