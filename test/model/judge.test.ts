import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memberFault } from '../../src/core/json-members.ts';
import { judge } from '../../src/model/judge.ts';

const PROTO = '"__proto__":';

describe('a member that an answer has twice', () => {
  it.each([
    ['{"a":1,"a":1}', 'the key "a" is here twice'],
    ['{"a":false,"\\u0061" : true}', 'the key "a" is here twice'],
    ['[{"b":{"a":"x","c":[{}],\n"a"\n\t:"y"}}]', 'the key "a" is here twice'],
    ['{"a\\"":1,"b":"\\\\","a\\"":2}', 'the key "a\\"" is here twice'],
    ['{"__proto__":{}}', 'the key "__proto__" is not allowed'],
  ])('is found in %s', (json, fault) => {
    expect(() => JSON.parse(json)).not.toThrow();
    expect(memberFault(json)).toBe(fault);
  });

  it.each([
    '{"a":{"a":1},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":["a","a"]}',
    '{"a":"{\\"a\\":1,","A":1}',
  ])('is not seen in %s', (json) => {
    expect(memberFault(json)).toBeUndefined();
  });

  it('is in none of the documents that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const json = JSON.stringify(value, null, 1);
        const isOdd = json.includes(PROTO);
        expect(memberFault(json) === undefined).toBe(!isOdd);
      }),
    );
  });

  it('is looked for in large texts without an overflow', () => {
    expect(memberFault(`{"a":"${'\\"'.repeat(5_000_000)}","b":1,"b":2}`)).toContain('twice');
  });

  it('makes an answer one of another shape, also in a code fence', () => {
    const schema = z.strictObject({ passed: z.boolean() });
    const twice = '{"passed":false,"passed":true}';
    for (const text of [twice, `\`\`\`json\n${twice}\n\`\`\``]) {
      const failure = { kind: 'wrong_shape', detail: 'the key "passed" is here twice' };
      expect(judge(text, schema)).toEqual({ ok: false, failure });
    }
    expect(judge('{"passed":true}', schema)).toEqual({ ok: true, value: { passed: true } });
  });
});
