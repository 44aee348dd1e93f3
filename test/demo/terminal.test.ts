// @module-tag slow

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inTerminal, quoted, WITHOUT_TERMINAL } from '../support/pseudo-terminal.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CTRL_C = '\u0003';

describe.skipIf(WITHOUT_TERMINAL !== undefined)('the demo at a terminal', () => {
  it('ends with Studio open, until Ctrl-C', async () => {
    const { code, shown } = await inTerminal(`exec ${quoted(process.execPath)} demo/main.ts`, {
      cwd: ROOT,
      typed: [{ after: 'Studio, signed in as mia: http://127.0.0.1:', type: CTRL_C }],
    });
    expect(shown).toContain('waits for you: press Countersign, and it merges');
    expect(shown).not.toContain('✘');
    expect(code).toBe(0);
  });
});
