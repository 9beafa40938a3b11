import type { Check } from '../../protocol/check.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import {
  ProbeBudget,
  ProbeClient,
  type ProbeAnswer,
  type ProbeClientDeps,
  type ProbeRequest,
} from './probe-client.ts';

export interface ProbeLogDeps extends Omit<ProbeClientDeps, 'budget'> {
  /** Takes each check as soon as it is made. */
  onCheck(check: Check): void;
}

/** The checks and answers of one probe so far. */
export class ProbeLog {
  readonly budget = new ProbeBudget();
  readonly checks: Check[] = [];
  /** The answers of the probed model. */
  readonly answers: ProbeAnswer[] = [];
  private readonly deps: ProbeLogDeps;

  constructor(deps: ProbeLogDeps) {
    this.deps = deps;
  }

  /** Adds a check, if there is one. */
  add(check: Check | null): void {
    if (check === null) return;
    this.checks.push(check);
    this.deps.onCheck(check);
  }

  /** Opens a client whose requests count in this probe. */
  open(provider: ConfiguredProvider, modelId: string): ProbeClient {
    return new ProbeClient(provider, modelId, { ...this.deps, budget: this.budget });
  }

  /** Sends a request, and keeps the answer. */
  async ask(client: ProbeClient, request: ProbeRequest): Promise<ProbeAnswer> {
    const answer = await client.ask(request);
    this.answers.push(answer);
    return answer;
  }
}
