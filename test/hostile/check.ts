import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { isInside } from '../../src/base/path-inside.ts';
import { taskNameIn } from './script.ts';
import type { CallExpectation, Expectation } from './case.ts';
import type { Outcome, PlayedCall } from './play.ts';

/** Whether what happened is what a case says, judged by effects. */
export function check(outcome: Outcome, wanted: Expectation): void {
  const { world } = outcome;
  const filled = world.fill(wanted);
  if (outcome.programs.length === 0) checkStart(outcome, filled);
  else checkPrograms(outcome);
  checkChanges(outcome, filled);
  checkCalls(outcome, filled);
  checkTexts(outcome, filled);
  checkOffers(outcome, filled);
  checkKeys(outcome, filled);
  if (filled.asked !== undefined) {
    expect(outcome.asked).toEqual(
      filled.asked.map(({ chain, subject }) => ({
        chain,
        subject: typeof subject === 'string' ? subject : expect.stringMatching(subject),
      })),
    );
  }
  if (filled.stateIsPrivate === true) expect(world.openState()).toEqual([]);
  expect(outcome.left).toBe('');
  expect({ hits: outcome.hits }).toEqual({ hits: filled.hits ?? 0 });
  if (filled.mostRequests !== undefined) {
    expect(outcome.requests.length).toBeLessThanOrEqual(filled.mostRequests);
  }
  if (filled.mostMegabytes !== undefined) {
    expect(outcome.grownMegabytes).toBeLessThanOrEqual(filled.mostMegabytes);
  }
}

function checkStart({ envelope, startError, notices }: Outcome, wanted: Expectation): void {
  if (wanted.refusedStart !== undefined) expect(startError).toMatch(wanted.refusedStart);
  else {
    expect(startError).toBeNull();
    expect(envelope?.data.status).toBe(wanted.status ?? 'completed');
    if (wanted.answer !== undefined) expect(envelope?.data.result).toMatch(wanted.answer);
  }
  for (const notice of wanted.notices ?? []) expect(notices.join('\n')).toMatch(notice);
}

function checkPrograms({ programs, world }: Outcome): void {
  for (const { run, code, stdout, stderr } of programs) {
    const { exit = 0, says = [], omits = [] } = world.fill(run);
    const codes = typeof exit === 'number' ? [exit] : exit;
    expect(codes, `${run.args.join(' ')}\n${stdout}${stderr}`).toContain(code);
    // Whatever goes wrong is said in a sentence.
    expect(stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
    for (const each of says) expect(stdout + stderr).toMatch(each);
    for (const each of omits) expect(stdout + stderr).not.toMatch(each);
  }
}

function checkChanges(
  { changed, world }: Outcome,
  { changes = {}, changesBelow = [] }: Expectation,
): void {
  const elsewhere = changed.filter((path) => !changesBelow.some((place) => isInside(place, path)));
  expect(elsewhere).toEqual(Object.keys(changes).toSorted());
  for (const [path, content] of Object.entries(changes)) {
    if (typeof content === 'string') expect(readFileSync(world.path(path), 'utf8')).toBe(content);
  }
}

function checkCalls({ calls }: Outcome, { calls: main, tasks = {} }: Expectation): void {
  const all = { ...(main === undefined ? {} : { main }), ...tasks };
  for (const [task, wanted] of Object.entries(all)) {
    const made = calls.filter((call) => call.task === task);
    expect({ [task]: made.map(summary) }).toEqual({
      [task]: wanted.map((each, index) => fitting(each, made[index])),
    });
  }
}

/** What of a call stands in the message of a test that fails. */
function summary({ end, error, decision, text }: PlayedCall) {
  return { end, error, step: decision?.step ?? null, text };
}

/** The call as it happened where it fits, else what was wanted. */
function fitting(wanted: CallExpectation, made: PlayedCall | undefined): unknown {
  const { end, step, error, says, omits } = typeof wanted === 'string' ? { end: wanted } : wanted;
  const fits =
    made !== undefined &&
    (end === 'stopped' ? made.end !== 'ran' : made.end === end) &&
    (step === undefined || made.decision?.step === step) &&
    (error === undefined || made.error === error) &&
    (says === undefined || says.test(made.text)) &&
    (omits === undefined || !omits.test(made.text));
  return fits ? summary(made) : wanted;
}

function checkTexts(
  { requests, calls, notices, kept, world, envelope, programs }: Outcome,
  wanted: Expectation,
): void {
  const sent = requests.map(({ rawBody }) => rawBody);
  const told = [
    ...calls.map(({ text }) => text),
    ...notices,
    JSON.stringify(envelope),
    ...programs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
  ];
  if (wanted.canaryMayShow !== true) {
    for (const text of [...sent, ...told, kept]) expect(text).not.toContain(world.canary);
  }
  for (const text of wanted.sent ?? [])
    expect(
      sent.some((body) => holds(body, text)),
      `sent: ${text}`,
    ).toBe(true);
  for (const text of wanted.neverSent ?? []) {
    for (const body of sent) expect(holds(body, text), `never sent: ${text}`).toBe(false);
  }
  for (const text of wanted.kept ?? []) expect(holds(kept, text), `kept: ${text}`).toBe(true);
  for (const text of wanted.neverKept ?? [])
    expect(holds(kept, text), `never kept: ${text}`).toBe(false);
}

function holds(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
}

function checkOffers({ requests }: Outcome, { offered = {}, notOffered = {} }: Expectation): void {
  const toolsOf = (task: string): readonly string[] =>
    requests
      .filter((request) =>
        request.messages.some(({ role, text }) => role === 'user' && taskNameIn(text) === task),
      )
      .flatMap(({ tools }) => tools.map(({ name }) => name));
  for (const [task, tools] of Object.entries(offered))
    expect(toolsOf(task)).toEqual(expect.arrayContaining([...tools]));
  for (const [task, tools] of Object.entries(notOffered)) {
    expect(toolsOf(task).filter((tool) => tools.includes(tool))).toEqual([]);
  }
}

/** The names of the headers in which the protocols send keys. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

function checkKeys({ requests, world }: Outcome, { keys }: Expectation): void {
  if (keys === undefined) return;
  const sent = requests.map(({ headers }) =>
    KEY_HEADERS.flatMap((name) => headers[name] ?? []).join(' '),
  );
  expect(sent.filter((key, index) => key !== sent[index - 1])).toEqual(keys);
  const others = requests.map(({ headers }) =>
    Object.entries(headers).filter(([name]) => !KEY_HEADERS.includes(name)),
  );
  expect(JSON.stringify(others)).not.toContain(world.canary);
}
