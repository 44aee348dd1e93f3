import { describe, expect, it } from 'vitest';
import { isCheckOf, readWorkflow } from '../../../src/domain/first-look/workflow.ts';

const read = (on: string, jobs = '{}') => readWorkflow('a.yml', `on: ${on}\njobs: ${jobs}\n`, 'main');

describe('a workflow', () => {
  it.each([
    ['pull_request', true],
    ['[push, pull_request]', true],
    ['{ pull_request: }', true],
    ['{ pull_request: { branches: [main] } }', true],
    ['{ pull_request: { branches: "**" } }', true],
    ['push', false],
    ['pull_request_target', false],
    ['{ pull_request: { branches: [release] } }', false],
    ['{ pull_request: { branches-ignore: [main] } }', false],
    ['{ pull_request: { paths: ["docs/**"] } }', false],
    ['{ pull_request: { paths-ignore: ["docs/**"] } }', false],
    ['{ pull_request: { types: [labeled] } }', false],
    ['7', false],
  ])('with on: %s runs for every pull request: %j', (on, expected) => {
    expect(read(on)?.forEveryPullRequest).toBe(expected);
  });

  it('names the checks of its jobs, or how they begin', () => {
    const jobs = `{ a: {}, b: { name: "B b" }, c: { strategy: { matrix: { os: [x] } } }, d: { uses: ./w.yml }, e: { name: "$\{{ x }}" }, f: 7 }`;
    expect(read('push', jobs)?.jobs).toEqual([
      { name: 'a', isWhole: true },
      { name: 'B b', isWhole: true },
      { name: 'c', isWhole: false },
      { name: 'd', isWhole: false },
      { name: 'f', isWhole: true },
    ]);
  });

  it('is none if the file cannot be read', () => {
    expect(readWorkflow('a.yml', 'on: [', 'main')).toBeUndefined();
  });
});

describe('a check', () => {
  it.each([
    ['c', false, true],
    ['c (x, 22)', false, true],
    ['c / unit', false, true],
    ['c', true, true],
    ['c (x, 22)', true, false],
    ['cd', false, false],
  ])('%j of a job that is c (whole: %j) belongs to it: %j', (check, isWhole, expected) => {
    expect(isCheckOf(check, { name: 'c', isWhole })).toBe(expected);
  });
});
