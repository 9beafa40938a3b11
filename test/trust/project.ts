import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Approvals } from '../../src/trust/approvals.ts';
import { createProjectTrust, type TrustDecision } from '../../src/trust/project-trust.ts';
import type { StateOptions } from '../../src/trust/state-directory.ts';

/** A home, a state directory and a repository of their own, gone when it is disposed of. */
export class Project {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-trust-')));
  readonly home = join(this.root, 'home');
  readonly state = join(this.root, 'state');
  readonly repo = join(this.root, 'repo');
  readonly problems: string[] = [];

  constructor(files: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.home);
    mkdirSync(join(this.repo, '.git'), { recursive: true });
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path: string, content: string | Buffer): string {
    const full = join(this.repo, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  }

  place(cwd = this.repo): StateOptions {
    return { environment: {}, home: this.home, cwd, dataDir: this.state };
  }

  approvals(cwd = this.repo): Approvals {
    return new Approvals(this.place(cwd));
  }

  trust(decision: TrustDecision = false) {
    const onProblem = (message: string): void => void this.problems.push(message);
    return createProjectTrust({ ...this.place(), decision, onProblem });
  }

  /** Approves as `muster trust add --yes` does. */
  async add(paths: readonly string[] = [], cwd = this.repo): Promise<void> {
    const approvals = this.approvals(cwd);
    approvals.approve(await approvals.propose(paths));
  }

  /** Path within the repository and state of every file that is listed. */
  async states(cwd = this.repo): Promise<readonly (readonly [string, string])[]> {
    const { files } = await this.approvals(cwd).list();
    return files.map(({ path, state }) => [path.replace(`${this.repo}/`, ''), state]);
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** An agent file. */
export function agentText(name: string, ...lines: readonly string[]): string {
  return ['---', `name: ${name}`, 'description: Tests.', ...lines, '---', 'Test.', ''].join('\n');
}
