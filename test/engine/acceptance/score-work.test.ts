import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findScore, markStdout, splitMarked } from '../../../src/engine/acceptance/score-work.ts';

describe('the score in an output', () => {
  it.each([
    ['7', 7],
    ['score: 0.93', 0.93],
    ['score: 12%\n\n  \n', 12],
    ['1\n2\n3', 3],
    ['first 5\nthen -2.5', -2.5],
    ['{"score": 1.5e3}', 1500],
    ['7 of 10', 10],
    ['.5', 0.5],
    ['+3', 3],
    ['on 2026-11-27', 27],
    ['a1 b2', null],
    ['NaN', null],
    ['Infinity -Infinity', null],
    ['1e999', null],
    ['ok', null],
    ['5\nok', null],
    ['', null],
    ['5\r\n', 5],
    ['50%\r60%\r70%', 70],
  ])('of %j is %j', (output, score) => {
    expect(findScore(output)).toBe(score);
  });

  it('is each number that a program can print on a line of its own', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(findScore(`log 1\n${value}\n`)).toBe(Number(String(value)));
      }),
    );
  });

  it('is never anything but a number, whatever the output is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (output) => {
        const score = findScore(output);
        expect(score === null || Number.isFinite(score)).toBe(true);
      }),
    );
  });
});

describe('a command whose stdout is marked', () => {
  function run(command: string) {
    const line = `exec 2>&1; ${markStdout(command, 'mark-1')}`;
    const { stdout, status } = spawnSync('/bin/bash', ['-c', line], { encoding: 'utf8' });
    return { status, ...splitMarked(stdout, 'mark-1') };
  }

  it.each([
    ['echo out; echo err >&2; exit 3', { status: 3, stdout: 'out\n', rest: 'err' }],
    ['echo 5 # five', { status: 0, stdout: '5\n', rest: '' }],
    ['cat <<END\n6\nEND', { status: 0, stdout: '6\n', rest: '' }],
    ['printf "a\\0b"', { status: 0, stdout: 'ab\n', rest: '' }],
    ['true', { status: 0, stdout: '\n', rest: '' }],
    ['false | true', { status: 0, stdout: '\n', rest: '' }],
  ])('%j keeps its exit code, its stdout and the rest apart', (command, expected) => {
    expect(run(command)).toEqual(expected);
  });

  it('has only the end of a long stdout', () => {
    const { stdout } = run('seq 100000');
    expect(stdout.length).toBeLessThan(4_100);
    expect(findScore(stdout)).toBe(100_000);
  });

  it('has no stdout if the shell cannot read the command', () => {
    const { status, stdout, rest } = run('echo (');
    expect([status === 0, stdout]).toEqual([false, '\n']);
    expect(rest).toContain('syntax error');
  });
});
