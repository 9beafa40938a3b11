import {
  ACCEPT_EDITS,
  AUTONOMOUS,
  bash,
  edit,
  glob,
  grep,
  inTurn,
  ls,
  ofClass,
  once,
  read,
  task,
  write,
} from '../calls.ts';
import type { Call } from '../case.ts';

const many = (times: number, call: (index: number) => Call): readonly Call[] =>
  Array.from({ length: times }, (_, index) => call(index));
const readSome = (path: string, limit: number): Call => ({
  name: 'Read',
  input: { file_path: path, limit },
});
/** Of so many calls the first run, and the rest do not. */
const endsOf = (calls: number, running: number): readonly ('ran' | 'stopped')[] =>
  Array.from({ length: calls }, (_, index) => (index < running ? 'ran' : 'stopped'));
const MEGABYTE = 1024 * 1024;

export const RESOURCE_CASES = ofClass('resources', [
  {
    name: 'a file of 20 GB is read in part or not at all',
    files: { 'ws/huge.bin': { size: 20_000 * MEGABYTE } },
    settings: AUTONOMOUS,
    model: once(
      read('huge.bin'),
      { name: 'Read', input: { file_path: 'huge.bin', offset: 1_000_000, limit: 10 } },
      grep('x', { path: 'huge.bin' }),
      edit('huge.bin', 'a', 'b'),
      write('huge.bin'),
    ),
    expect: { calls: ['stopped', 'stopped', 'stopped', 'stopped', 'stopped'], mostMegabytes: 150 },
  },
  {
    name: 'one line of 30 MB',
    files: { 'ws/line.txt': { repeat: 'x'.repeat(1024), times: 30 * 1024 } },
    settings: AUTONOMOUS,
    model: once(read('line.txt'), grep('xxx')),
    expect: { mostMegabytes: 250, neverSent: [/x{300000}/] },
  },
  {
    name: 'a million short lines',
    files: { 'ws/lines.txt': { repeat: 'needle\n', times: 1_000_000 } },
    settings: AUTONOMOUS,
    model: once(read('lines.txt'), grep('needle')),
    expect: { calls: ['ran', 'ran'], mostMegabytes: 250 },
  },
  {
    name: 'a command that prints without end is ended, and what it printed is bounded',
    env: { MUSTER_OUTPUT_SPILL_BYTES: '1000000' },
    settings: { person: 'allow' },
    model: once(bash('yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')),
    expect: { calls: [{ end: 'failed', error: 'LIMIT_EXCEEDED' }], mostMegabytes: 120 },
  },
  {
    name: 'a command that does not end, and ignores being told so',
    env: { MUSTER_LIVENESS_TOOL_SECONDS: '1' },
    settings: { person: 'allow' },
    model: once(bash("trap '' TERM HUP INT; while :; do sleep 1; done")),
    expect: { calls: [{ end: 'failed', error: 'TIMEOUT' }] },
  },
  {
    name: 'processes that leave their group do not outlive the call (setsid, double fork, nohup)',
    settings: { person: 'allow' },
    model: once(
      bash(
        'setsid sleep 301 & (setsid sh -c "sleep 302 & sleep 303" &) ; nohup sleep 304 >/dev/null 2>&1 & disown -a; echo begun',
      ),
    ),
    expect: { calls: [{ end: 'ran', says: /begun/ }] },
  },
  {
    name: 'a command waits for input that nobody gives',
    settings: { person: 'allow' },
    model: once(bash('cat; read -r x; echo "got:$x"')),
    expect: { calls: [{ end: 'ran', says: /got:/ }] },
  },
  {
    name: 'a pattern that would take a matcher years',
    files: { 'ws/evil.txt': `${'a'.repeat(60)}!\n` },
    settings: AUTONOMOUS,
    model: once(
      grep('(a+)+$'),
      grep('(a|aa)+$'),
      grep('^(a?){60}a{60}$'),
      grep('(x+x+)+y'),
      glob('{a,b,c}'.repeat(40)),
      glob('*'.repeat(2_000)),
    ),
    expect: { mostMegabytes: 250 },
  },
  {
    name: 'patterns that are no patterns',
    settings: AUTONOMOUS,
    model: once(
      grep('('),
      grep('[z-a]'),
      grep('(?P<n>a)(?P=n)'),
      grep('\\'),
      grep(''),
      glob('['),
      glob(''),
      grep('a{1000000000}'),
    ),
    expect: {},
  },
  {
    name: 'five hundred calls in one message: a hundred run',
    settings: AUTONOMOUS,
    model: once(...many(500, (index) => readSome('a.txt', index + 1))),
    expect: { calls: endsOf(500, 100) },
  },
  {
    name: 'five hundred times the same call in one message: ten run',
    settings: AUTONOMOUS,
    model: once(...many(500, () => read('a.txt'))),
    expect: { calls: endsOf(500, 10) },
  },
  {
    name: 'the same call for ever ends as no progress',
    env: { MUSTER_LIVENESS_NO_PROGRESS_CALLS: '4' },
    settings: AUTONOMOUS,
    model: { main: inTurn(...many(40, () => read('a.txt'))) },
    expect: { status: 'partial', mostRequests: 12 },
  },
  {
    name: 'two calls in turn for ever, the same',
    env: { MUSTER_LIVENESS_NO_PROGRESS_CALLS: '4' },
    settings: AUTONOMOUS,
    model: { main: inTurn(...many(40, (index) => (index % 2 === 0 ? read('a.txt') : ls()))) },
    expect: { status: 'partial', mostRequests: 20 },
  },
  {
    name: 'a subagent that never ends ends with its turns',
    settings: { agents: { loop: { description: 'd', prompt: 'p', tools: 'Read', maxTurns: 3 } } },
    model: {
      main: [{ calls: [task('child', 'loop')] }],
      tasks: { child: inTurn(...many(30, (index) => read(`f${index}.txt`))) },
    },
    expect: { calls: [{ end: 'ran', says: /max_turns = 3/ }], mostRequests: 8 },
  },
  {
    name: 'a result of many files is cut to its limit',
    files: Object.fromEntries(
      many(100, () => read('')).map((_, index) => [
        `ws/dir${index}/${'n'.repeat(200)}.txt`,
        'needle\n',
      ]),
    ),
    settings: AUTONOMOUS,
    model: once(glob('**/*'), grep('needle'), ls()),
    expect: { calls: ['ran', 'ran', 'ran'], mostMegabytes: 100 },
  },
  {
    name: 'a directory two hundred deep',
    files: { [`ws/${'d/'.repeat(200)}end.txt`]: 'needle\n' },
    settings: AUTONOMOUS,
    model: once(glob('**/*.txt'), grep('needle'), read(`${'d/'.repeat(200)}end.txt`)),
    expect: { calls: ['ran', 'ran', 'ran'] },
  },
  {
    name: 'bytes that are no text, no UTF-8, no one line',
    files: {
      'ws/elf': { bytes: [0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 255, 254] },
      'ws/latin.txt': { bytes: [0x63, 0x61, 0x66, 0xe9, 0x0a] },
      'ws/surrogate.txt': { bytes: [0xed, 0xa0, 0x80, 0x0a] },
      'ws/bom.txt': { bytes: [0xef, 0xbb, 0xbf, 0x61, 0x0a] },
      'ws/empty.txt': '',
    },
    settings: ACCEPT_EDITS,
    model: once(
      read('elf'),
      read('latin.txt'),
      read('surrogate.txt'),
      read('bom.txt'),
      read('empty.txt'),
      grep('caf'),
    ),
    expect: { neverSent: ['\\u0000', '\u0000'] },
  },
  {
    name: 'a write of 5 MB, and emoji cut nowhere (control)',
    control: true,
    settings: ACCEPT_EDITS,
    model: {
      main: inTurn(
        write('big.txt', '🎉 line\n'.repeat(1000)),
        read('big.txt'),
        edit('a.txt', 'one', '🎉'),
      ),
    },
    expect: { calls: ['ran', 'ran', 'failed'], changes: { 'ws/big.txt': true } },
  },
  {
    name: 'long output is kept at both ends, the whole in a file that may be read (control)',
    control: true,
    settings: { person: 'allow' },
    model: once(bash('echo first; seq 1 30000; echo last')),
    expect: { calls: [{ end: 'ran', says: /first[\s\S]*last/ }] },
  },
]);
