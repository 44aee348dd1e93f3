import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memberDiagnostic } from '../../../src/core/json-members.ts';
import { judge } from '../../../src/engine/models/judge.ts';

const PROTO = '"__proto__":';

describe('a member that an answer has twice', () => {
  it.each([
    ['{"a":1,"a":1}', 'the key "a" is here twice'],
    ['{"a":false,"\\u0061" : true}', 'the key "a" is here twice'],
    ['[{"b":{"a":"x","c":[{}],\n"a"\n\t:"y"}}]', 'the key "a" is here twice'],
    ['{"a\\"":1,"b":"\\\\","a\\"":2}', 'the key "a\\"" is here twice'],
    ['{"__proto__":{}}', 'the key "__proto__" is not allowed'],
  ])('is found in %s', (json, diagnostic) => {
    expect(() => JSON.parse(json)).not.toThrow();
    expect(memberDiagnostic(json)).toBe(diagnostic);
  });

  it.each([
    '{"a":{"a":1},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":["a","a"]}',
    '{"a":"{\\"a\\":1,","A":1}',
  ])('is not found in %s', (json) => {
    expect(memberDiagnostic(json)).toBeUndefined();
  });

  it('is found in no document that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const json = JSON.stringify(value, null, 1);
        const isOdd = json.includes(PROTO);
        expect(memberDiagnostic(json) === undefined).toBe(!isOdd);
      }),
    );
  });

  it('is looked for in large texts without an overflow', () => {
    expect(memberDiagnostic(`{"a":"${'\\"'.repeat(5_000_000)}","b":1,"b":2}`)).toContain('twice');
  });

  it('makes an answer invalid, also in a code fence', () => {
    const schema = z.strictObject({ passed: z.boolean() });
    const twice = '{"passed":false,"passed":true}';
    for (const text of [twice, `\`\`\`json\n${twice}\n\`\`\``]) {
      const failure = { kind: 'wrong_shape', detail: 'the key "passed" is here twice' };
      expect(judge(text, schema)).toEqual({ ok: false, failure });
    }
    expect(judge('{"passed":true}', schema)).toEqual({ ok: true, value: { passed: true } });
  });
});

describe('an answer of another shape is reported', () => {
  const schema = z.strictObject({
    passed: z.boolean(),
    findings: z.array(
      z.strictObject({ severity: z.enum(['high', 'low']), line: z.int().min(1), note: z.string().max(3) }),
    ),
  });
  const finding = { severity: 'low', line: 1, note: '' };

  it.each<[unknown, string]>([
    [
      { passed: true, findings: [finding, { ...finding, severity: 'hgh' }] },
      'findings[1].severity: cannot be "hgh": did you mean "high"? Allowed: high, low',
    ],
    [
      { passed: 'yes', findings: [{ ...finding, line: 0, note: 'long' }] },
      'passed: must be true or false, not "yes"; findings[0].line: must be at least 1; findings[0].note: must have at most 3 characters',
    ],
    [
      { findings: [{ ...finding, lines: 1, more: 2 }] },
      'passed: is missing; findings[0]: unknown key "lines": did you mean "line"? Allowed: severity, line, note; unknown key "more"; allowed: severity, line, note',
    ],
    [{ passed: true, findings: [], verdict: 'x' }, 'unknown key "verdict"; allowed: passed, findings'],
    ['yes', 'it must be a mapping of keys to values, not "yes"'],
  ])('with the wrong place and what is allowed there: %j', (answer, detail) => {
    expect(judge(JSON.stringify(answer), schema)).toEqual({
      ok: false,
      failure: { kind: 'wrong_shape', detail },
    });
  });
});
