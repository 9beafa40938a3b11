import { booleanKey, choiceKey, optionalKey, textKey } from './key-kinds.ts';

/** The keys of the section `otel`, about the export of traces and metrics. A project may not set them. */
export const OTEL_KEYS = {
  endpoint: optionalKey(
    textKey('an address like http://localhost:4318', 'the receiver of traces and metrics', {
      project: 'never',
    }),
    'OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  headers_env: optionalKey(
    textKey(
      'the name of an environment variable',
      'the variable with the headers of exports, as NAME=VALUE,NAME=VALUE',
      { project: 'never' },
    ),
    'OTEL_EXPORTER_OTLP_HEADERS',
  ),
  content: booleanKey(
    false,
    'whether spans contain prompts, answers, and the arguments and results of calls',
    { project: 'never' },
  ),
} as const;

const LOG_LEVELS = ['error', 'warning', 'info', 'debug'] as const;

/** The keys of the section `log`, about the log file for people. A project may not set them. */
export const LOG_KEYS = {
  file: optionalKey(
    textKey('a path', 'the file to which Muster writes a line for each thing that it notices', {
      project: 'never',
    }),
    'none; with --debug, muster.log in the data directory',
  ),
  level: choiceKey('info', LOG_LEVELS, 'the least important lines that are written to `file`', {
    project: 'never',
  }),
} as const;
