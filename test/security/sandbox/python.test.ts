// @module-tag security

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandbox } from '../../../src/sandbox/sandbox.ts';
import { type Canaries, canaries, fixture, run, SECRET, targets } from './support.ts';

const { network } = await sandbox();

describe.skipIf(network === 'open')('a Python program that tries everything to escape', () => {
  let shelf: Canaries & AsyncDisposable;
  let got: Record<string, string> = {};

  beforeAll(async () => {
    shelf = await canaries();
    const output = await run('template.py', fixture('escape.py'), { input: targets(shelf) });
    if (output.kind === 'failed') throw new Error(output.because);
    got = output.value as Record<string, string>;
  });
  afterAll(() => shelf[Symbol.asyncDispose]());

  test.each([
    'reads a file',
    'reads /etc/passwd',
    "reads the app's code",
    "reads the app's environment",
    'follows a symbolic link',
    'mountNodeFS',
    'mounts NODEFS by hand',
    'writes a file',
    'os.popen',
    'subprocess',
    'os.fork',
    'os.execv',
    'os.kill',
    'connects',
    "connects by Node's sockets",
    'run_js',
    'the constructor of to_js',
    'the constructor of a proxy',
    'the constructor of an imported function',
    'what is behind submit',
    'a thread',
    'asks by HTTP',
    'a pipe to the app',
    'js.process',
    'js.fetch',
    'loadPackage from the disk',
    'a WebAssembly module by ctypes',
    '_api and _module',
  ])('gains nothing by %s', (name) => {
    expect(got[name]).toMatch(/^refused: /);
  });

  // The attempt kills the interpreter, which is fine.
  test('starts no shell by os.system', { tags: 'slow' }, async () => {
    const source = "import os; submit(os.system('touch ' + input['writtenFile']))";
    expect(await run('template.py', source, { input: targets(shelf) })).toMatchObject({ kind: 'failed' });
    expect(shelf.written()).toBe(false);
  });

  test('finds nothing of the environment, the arguments and JavaScript', () => {
    expect(got).toMatchObject({
      'the environment': '[{}, {}, []]',
      'the arguments': "['']",
      'the program': "['/home/template/this.program', ['./this.program'], '/home/template/this.program']",
      'the names of js': '',
      'the other processes': '[]',
    });
  });

  test('leaves no trace, signals nobody, and takes nothing out', () => {
    expect(JSON.stringify(got)).not.toContain(SECRET);
    expect(shelf.written()).toBe(false);
    expect(shelf.contacts()).toBe(0);
  });
});
