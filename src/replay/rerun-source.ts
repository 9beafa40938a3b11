import type { AnyTool } from '../protocol/tool.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { EngineSettings } from '../engine/limits/engine-settings.ts';

/** What a rerun reads. */
export interface RerunSource {
  /** Only read. */
  readonly store: TaskStore;
  readonly settings: EngineSettings;
  /** By canonical name: nothing of them is run. */
  readonly tools: ReadonlyMap<string, AnyTool>;
}
