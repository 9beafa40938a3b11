import { claudeFormat } from './claude.ts';
import { codexFormat } from './codex.ts';
import { copilotFormat } from './copilot.ts';
import { cursorFormat } from './cursor.ts';
import { factoryFormat } from './factory.ts';
import type { AgentFormat } from './format.ts';
import { geminiFormat } from './gemini.ts';
import { gooseFormat } from './goose.ts';
import { kiroFormat } from './kiro.ts';
import { genFormat, musterFormat, subagentFormat } from './muster.ts';
import { opencodeFormat } from './opencode.ts';
import { piFormat } from './pi.ts';
import { qwenFormat } from './qwen.ts';

/** The other vendors' formats, in the order in which their places are searched. */
export const VENDOR_FORMATS: readonly AgentFormat[] = [
  opencodeFormat,
  geminiFormat,
  qwenFormat,
  copilotFormat,
  cursorFormat,
  factoryFormat,
  kiroFormat,
  codexFormat,
  gooseFormat,
  piFormat,
];

/** Every format that Muster loads. */
export const FORMATS: readonly AgentFormat[] = [
  musterFormat,
  genFormat,
  claudeFormat,
  ...VENDOR_FORMATS,
  subagentFormat,
];
