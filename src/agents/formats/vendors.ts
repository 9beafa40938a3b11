import { claude } from './claude/vendor.ts';
import { codex } from './codex/vendor.ts';
import { copilot } from './copilot/vendor.ts';
import { cursor } from './cursor/vendor.ts';
import { factory } from './factory/vendor.ts';
import { gemini } from './gemini/vendor.ts';
import { goose } from './goose/vendor.ts';
import { kiro } from './kiro/vendor.ts';
import { gen, muster, subagent } from './muster/vendor.ts';
import { opencode } from './opencode/vendor.ts';
import { pi } from './pi/vendor.ts';
import { qwen } from './qwen/vendor.ts';
import type { AgentVendor } from './vendor.ts';

/** The other vendors in the order in which they are searched. A new vendor is one more entry. */
export const OTHER_VENDORS: readonly AgentVendor[] = [
  opencode,
  gemini,
  qwen,
  copilot,
  cursor,
  factory,
  kiro,
  codex,
  goose,
  pi,
];

/** All vendors in the order in which they are searched. */
export const AGENT_VENDORS: readonly AgentVendor[] = [
  muster,
  gen,
  claude,
  ...OTHER_VENDORS,
  subagent,
];
