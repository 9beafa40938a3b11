import { agentWords, argumentWords, commandWords } from './commands/words.ts';
import { ProjectFiles } from './files/project-files.ts';
import { completionsOf } from './pi/completions.ts';
import type { UiMuster } from './ui-muster.ts';
import type { UiState } from './view/ui-state.ts';

/** What the editor completes to. */
export class WordSource {
  readonly completions: ReturnType<typeof completionsOf>;
  private readonly files: ProjectFiles;

  constructor(muster: UiMuster, ui: UiState, now: () => number) {
    this.files = new ProjectFiles((signal) => muster.listFiles(signal), { now });
    this.completions = completionsOf({
      commands: commandWords,
      argumentsOf: (command) => argumentWords(command, { ui, models: muster.models }),
      files: (typed) => this.files.find(typed),
      agents: () => agentWords(muster.agents),
    });
  }

  stop(): void {
    this.files.stop();
  }
}
