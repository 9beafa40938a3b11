import { claudeFormat } from './claude.ts';
import type { AgentFormat } from './format.ts';
import { genFormat, musterFormat, subagentFormat } from './muster.ts';

/** The other vendors' formats, in the order in which their places are searched. */
export const VENDOR_FORMATS: readonly AgentFormat[] = [];

/** Every format that Muster loads. */
export const FORMATS: readonly AgentFormat[] = [
  musterFormat,
  genFormat,
  claudeFormat,
  ...VENDOR_FORMATS,
  subagentFormat,
];
